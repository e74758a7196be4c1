"""Topics are things: a row each, messages point at it, renaming is one update. Two spellings that differ in case are one.

Here too: what people decide about topics (muted, unmuted, followed). Invariants:
- A policy may come before the first message: its topic then has a row with `last_seq` 0, and is not listed as a topic.
- Whoever's policy changes is locked meanwhile, so that the list in the last event is the list in the database.
- What changes nothing is told to nobody.
"""
