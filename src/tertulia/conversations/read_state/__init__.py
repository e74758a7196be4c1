"""Read state and personal flags.

Read state is a set of numbers per user and conversation (`read_state.read`), never a row per message: reading a topic, a
channel or everything is one update. Invariants:
- Unread = received (`history`), in a conversation one belongs to now, up to the last number, not in the set, and not from
  somebody whom the reader muted. Everything else is read; what was never received is `historical` besides.
- Marking a message unread that was never received makes it received.
- What clients are told has changed is what has changed: no more, no less (of very many messages, the newest).
- Stars and the like are rows of `message_mark`, of received messages or not.
"""
