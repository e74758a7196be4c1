"""Flags of messages as the API has them: what is read and unread, starred, collapsed, and who has read what.

The state itself is below, in reads/; here is what needs to reach messages and narrows. Invariants:
- A flag is put only on what the caller received or reaches now; anything else is refused like what does not exist.
- Only what one belongs to can be unread: marking unread in other channels changes nothing, and the answer names them.
"""
