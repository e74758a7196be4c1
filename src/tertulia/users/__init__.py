"""Users and bots, their keys and logins.

Invariants: an email address is used once in a realm, whatever its case; of an API key only the digest is stored; every
login attempt costs the same time, whether the user exists or not.
"""
