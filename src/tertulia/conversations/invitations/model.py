"""Invitations: what they offer, and how lists show them."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Role


class Offer(msgspec.Struct, frozen=True):
    """What awaits whoever accepts."""

    invited_as: int = Role.MEMBER
    channel_ids: Sequence[int] = ()
    group_ids: Sequence[int] = ()
    with_defaults: bool = False
    tells_inviter: bool = True
    minutes: int | None = None
    """How long it is valid; None: it never expires."""


class PersonalLink(msgspec.Struct, frozen=True):
    """A link that makes the account of one address."""

    email: str
    link_url: str


class Terms(msgspec.Struct, frozen=True):
    """What a good key stands for: an invitation, a link for many, or an address that was confirmed by it."""

    invitation_id: int | None
    inviter_id: int | None
    inviter_name: str | None
    inviter_role: int | None
    email: str | None
    """Whose account it makes; None: of whoever tells their address first."""
    is_reusable: bool
    invited_as: int
    channel_ids: list[int]
    group_ids: list[int]
    with_defaults: bool
    tells_inviter: bool
    is_handed_over: bool
    """No mail showed whose the address is: an administrator vouches for it."""


class Invite(msgspec.Struct, frozen=True, omit_defaults=True):
    """An invitation as GET /invites shows it; times are UNIX seconds."""

    id: int
    invited_by_user_id: int
    invited: int
    expiry_date: int | None
    invited_as: int
    is_multiuse: bool
    notify_referrer_on_join: bool
    email: str | None = None
    link_url: str | None = None
