"""Second factors: codes of an authenticator (TOTP) and recovery codes, and who has to have one.

Invariants:
- Nobody gets a session or a key by a password alone once they have a factor: whoever begins a session shows a `Cleared`,
  and nothing but this package makes one.
- A code is used once: the step of a TOTP code only grows, a recovery code is deleted when it is used.
- The secret lies in the database as `stored_secret.py` puts it there; of recovery codes only digests do.
"""
