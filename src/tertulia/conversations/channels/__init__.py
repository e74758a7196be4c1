"""Channels and who belongs to them.

A channel is a conversation with a name, and has the conversation's id. Invariants:
- Whoever changes who hears or sees a channel's messages first locks its conversation `FOR SHARE`, in id order, and uses
  only the locked row's numbers: so every message is on one side of the change for everybody (docs/explanation/event-log.md).
- `read_state.history` has an open end exactly while the subscription is active.
- What is out of reach looks like what does not exist: channels are loaded through `access.py` only.
"""
