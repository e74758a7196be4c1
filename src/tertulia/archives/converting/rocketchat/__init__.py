"""From a dump of the database of Rocket.Chat: there is no export of its own that has everything.

`bson` reads documents, `dump` finds what is there and the bytes of files, `people` and `places` say who and what that is here,
`messages` what each document becomes, `text` what it says. Only fields that are named in these modules are read at all: the
hashes and tokens in a dump never become a value.
"""
