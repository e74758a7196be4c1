"""Muted users: people whom somebody does not want to hear from. Their clients hide them; nobody else learns of it.

Invariants:
- Whoever mutes is locked meanwhile, so that the list in the last event is the list in the database.
- What muted people send counts as read, at the moment of reading: nothing is written for it. Muting somebody marks read
  what is unread of them; unmuting marks read for good what they sent meanwhile.
"""
