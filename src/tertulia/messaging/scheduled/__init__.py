"""Scheduled messages: written now, sent later.

Everything a message must be is checked when it is scheduled, when it is changed, and again when it is due. Invariants:
- A due message is sent and taken off the list in one transaction, whoever delivers it and whatever is killed: it is sent
  exactly once. Workers claim rows with `for update skip locked`.
- What cannot be sent stays on the list as failed, until its author gives it another time.
"""
