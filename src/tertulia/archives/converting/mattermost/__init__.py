"""From a bulk export of Mattermost: a zip with one file of JSON lines and the files beside it, or the lines alone.

`reading` gives the lines kind by kind, `people` and `rooms` say who and what they are about, `posts` what each post becomes,
`text` and `attached` what it says. There are no ids in it: people are known by their names, channels by their teams and names,
direct conversations by who is in them.
"""
