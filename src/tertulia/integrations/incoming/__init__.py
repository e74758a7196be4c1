"""Integrations: other services post what happened there, a bot says it here.

A service calls `/api/v1/external/<name>` in its own format, with a bot's key in the address. Each has a folder: how its
payloads are read (pure: no I/O, no clock), a guide for whoever sets it up, payloads as examples. `table.py` lists them all;
the endpoint, the state of POST /register and the page of the documentation follow from it.

Invariants: whatever is posted is answered, never with a failure of ours; text of outsiders mentions nobody and makes no links
but its own addresses (`wording.py`); what a bot may not send by POST /messages it may not send by this way either.
"""
