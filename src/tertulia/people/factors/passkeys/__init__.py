"""Passkeys (WebAuthn): keys in an authenticator that sign a challenge of ours, in place of a password or beside it.

Invariants:
- A challenge is stored here, is good for five minutes and one try, right or wrong, and for nothing but what it was made for: an
  organization, a purpose, an account and a session, as far as there is one.
- The page's origin is the organization's own address, to the letter, whatever a proxy or a header says.
- Who logs in by a passkey alone was asked by the authenticator for a finger, a face or a PIN. A passkey that did so when it was
  made has to do so always.
- A passkey whose count does not grow was copied, and is refused.
- No library reads CBOR of a stranger before `cbor.py` has found it harmless.
- Attestations are neither asked for nor looked at: which make an authenticator is of is not our business.
"""
