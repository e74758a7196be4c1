"""Invitations, and signing up: how people get accounts of their own accord.

An invitation goes to one address, or is a link for many. Whoever comes by a link for many, or where everybody may join,
tells their address and is sent a key, as the invited are: an account is made only for who has a key from their mail, or
whose address an identity provider vouches for.

Invariants:
- A key is random; only its digest is stored, except for links for many, which lists show again: those are sealed.
- Used, taken back, expired and unknown keys are answered alike.
- An invitation gives no more than its inviter could give at the moment it is used: whether they may invite at all, role, channels
  and groups.
- Locks: groups, conversations, the inviter's account, the new one, the realm, invitations by id.
"""
