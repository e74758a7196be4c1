"""Logins: passwords, a directory of users (LDAP), API keys, and how a forgotten password is replaced.

Invariants:
- Whether there is an account with some name cannot be learned from an answer, nor from the time it takes; the exception
  is a deactivated account, which is told so.
- An attempt is counted as failed, in PostgreSQL, before its password is looked at: no number of nodes or of parallel
  requests gives an attacker more tries.
- Of keys and tokens only digests are stored; nothing is cached, so what was revoked stops with the commit.
"""
