"""Sending messages.

To be read in this order: routes.py, actions.py, places.py (where it goes, may they?), composing.py (what it becomes),
lane.py (the group commit), storing.py (what is written, and what follows), statements.py, events.py (what listeners
get). A message's way in a table: docs/explanation/a-messages-way.md. Invariants:
- A message costs a constant number of rows, whatever the size of the channel.
- Of the messages sent to a conversation, seq, id and commit order are one order. Those that were moved into it from another
  channel (`arrived`) have numbers after, whatever their ids.
- Rights are checked again under the locks of the sending statement; a refused row answers its own sender only.
- A reply is sent after the commit; after a lost connection the outcome is asked for, never guessed.
"""
