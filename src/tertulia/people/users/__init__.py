"""Accounts of people and bots: who they are, who calls (authentication), and whom a guest sees (visibility).

Invariants: an email address is used once in a realm, whatever its case; of an API key only the digest is stored; every
login attempt costs the same time, whether the user exists or not.
"""
