"""From an export of a Zulip organization: one tar with tables as JSON, messages in files of a thousand, and the files themselves.

`tables` reads what is no message, `people`, `places` and `furniture` say what it is here, `messages` what was said and who has
read it, `assembling` writes the archive. Its texts are in our dialect and its ids are kept, so texts stay as they are. Only
fields that are named in `tables` are looked at: keys, passwords and HTML are none of them.
"""
