"""Reminders: a message that comes back to somebody at a time they chose, with a note to themselves.

Due ones become notices of the notification bot in the transaction that takes them off the list: each comes exactly once.
The message is shown as it is by then; if it is out of reach, as it was when the reminder was set.
"""
