"""Reminders: a message that comes back to somebody at a time they chose, with a note to themselves.

Due ones become notices of the notification bot in the transaction that takes them off the list: each comes exactly once.
A reminder refers to its message and keeps nothing of it: the message is shown as it is when somebody looks, and not at all
if it is deleted or out of reach by then.
"""
