"""Bots: accounts of programs, each owned by a person.

Invariants:
- A bot has no password. Its key is shown when it is made and never again, because only a digest is stored.
- It counts as the lower of its own role and its owner's at this moment (`bot_counts_as` in the database).
- Its owner may change it, and administrators whose role is not below the bot's or its owner's; nobody else.
- Only its owner reads by it: nobody else gets a key of it, or says where it sends what it hears. With another owner it keeps
  nothing that they could not read (people/users/handover.py).
- Whoever may see a bot's settings (`realm_bots`) hears of their changes.
"""
