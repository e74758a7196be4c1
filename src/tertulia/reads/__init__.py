"""Read state and personal flags.

Read state is a set of numbers per user and conversation (`read_state.read`), never a row per message: reading a topic is
one update. Unread = received (`history`), up to the last number, and not in the set.
"""
