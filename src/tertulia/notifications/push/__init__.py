"""Web Push: notifications of messages at browsers, for people who are not active.

A browser gives us an address of its maker's push service and a key; the worker posts there what only that browser can read
(RFC 8030, 8291, 8292). Whom a message is pushed to is decided elsewhere (notifications/concerns). Invariants: whoever is
active, or has read it by then, gets no push; a subscription ends with the login that made it, and when the push service says
that it is gone, or took nothing for days.
"""
