"""Bots: accounts of programs, each owned by a person.

Invariants: a bot has no password; its key is shown when it is made and never again, because only a digest is stored; its
owner and administrators may change it, nobody else. Whoever may see a bot's settings (`realm_bots`) hears of their changes.
"""
