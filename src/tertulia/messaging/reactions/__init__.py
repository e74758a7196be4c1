"""Reactions: an emoji somebody puts to a message.

Invariants: one row for each person, message, and (type, code); all of one (type, code) on a message carry the name the
first of them had. The message is held while its reactions change.
"""
