"""Changing messages: their text, their topic, their channel; deleting them; what they were before.

To be read in this order: routes.py, actions.py (what is wanted), holding.py (what is held meanwhile, may they?), then
content.py, moving/, deletion.py; telling.py and events.py are what listeners get. Invariants:
- Whoever changes a message holds its conversation, and the one it goes to, in the order of their ids: sends, changes and
  subscriptions are one order there, and rights are asked for under these locks.
- Nobody changes another's text. Nobody moves or deletes what they cannot see.
- Renaming a whole topic changes one row, however many messages it has.
- After a move every reader has read what they had read before, and the history of each message tells all of it.
Decision: docs/decisions/0048-changing-messages.md.
"""
