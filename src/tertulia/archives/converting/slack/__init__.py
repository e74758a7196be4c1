"""From an export of Slack: one zip with a JSON file for each day of each conversation.

`reading` finds what is in the zip, `people` and `conversations` say who and what that is here, `messages` what each entry
becomes, `text` and `blocks` what it says. No file, picture or user group is in an export of Slack; helpers put files into it.
"""
