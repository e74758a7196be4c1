"""Muted users: people whom somebody does not want to hear from. Their clients hide them; nobody else learns of it.

Invariant: whoever mutes is locked meanwhile, so that the list in the last event is the list in the database.
"""
