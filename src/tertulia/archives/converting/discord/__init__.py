"""From what DiscordChatExporter wrote: one JSON file for each channel, thread or conversation, and files beside it.

`source` finds them in folders and zips, `people` and `places` say who and what that is here, `messages` what each entry becomes,
`content` and `text` what it says. Who may read a channel is not in these files, nor anybody's address: the operator says so.
"""
