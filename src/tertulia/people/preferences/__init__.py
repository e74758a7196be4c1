"""Preferences: what somebody chose about how the service looks to them and when it calls them.

Invariants: only what differs from the defaults of model.py is stored, in `account.settings`; the time zone and the name
are parts of the user record and are stored there. The account is locked while settings change, and every value that
became another is told to the user's own clients, once.
"""
