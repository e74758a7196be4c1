"""Messages: sending and fetching.

Sending, to be read in this order: routes.py, actions.py, places.py (where it goes, may they?), lane.py (the group
commit), statements.py (what is written), events.py (what listeners get). Invariants:
- A message costs a constant number of rows, whatever the size of the channel.
- Of the messages sent to a conversation, seq, id and commit order are one order. Those that were moved into it from another
  channel (`arrived`) have numbers after, whatever their ids.
- Rights are checked again under the locks of the sending statement; a refused row answers its own sender only.
- A reply is sent after the commit; after a lost connection the outcome is asked for, never guessed.
"""
