"""Pure decisions about invitations: who may invite as what, and which addresses a list names."""

import re

from tertulia.kernel.auth import Role
from tertulia.kernel.errors import Refusal

DEFAULT_MINUTES = 14_400
MAX_MINUTES = 10 * 366 * 24 * 60
MAX_EMAILS = 1000
KEY_BYTES = 24
"""Random ones, in the keys of invitations and those that are sent to addresses."""
INVITES_BY_MAIL = "can_invite_users_group"
INVITES_BY_LINK = "create_multiuse_invite_group"
"""The permissions of the organization."""
_NAMED = re.compile(r".*<([^<>]+)>\s*")


def may_invite_as(inviter_role: int, invited_as: int) -> bool:
    """Owners are made by owners, administrators and moderators by administrators; guests invite nobody."""
    if invited_as == Role.OWNER:
        return inviter_role == Role.OWNER
    if invited_as in (Role.ADMINISTRATOR, Role.MODERATOR):
        return inviter_role <= Role.ADMINISTRATOR
    return inviter_role <= Role.MEMBER


def check_may_invite_as(inviter_role: int, invited_as: int) -> None:
    """Refuse who would make somebody more than they may."""
    if may_invite_as(inviter_role, invited_as):
        return
    needed = "owner" if invited_as == Role.OWNER else "administrator"
    raise Refusal(f"Must be an organization {needed}", code="UNAUTHORIZED_PRINCIPAL")


def addresses_in(text: str) -> list[str]:
    """The addresses of a list with commas or lines between them, each once; `Ada <ada@example.com>` is one of them."""
    found: dict[str, str] = {}
    for part in re.split(r"[,\n]", text):
        named = _NAMED.fullmatch(part)
        address = (named[1] if named else part).strip()
        if address:
            found.setdefault(address.lower(), address)
    if not found:
        raise Refusal("You must specify at least one email address.")
    if len(found) > MAX_EMAILS:
        raise Refusal(f"Invite at most {MAX_EMAILS} people at a time.")
    return list(found.values())


def no_such_invitation() -> Refusal:
    """None that the caller may change."""
    return Refusal("No such invitation")


def bad_key() -> Refusal:
    """Used, taken back, expired or made up: nobody learns which."""
    return Refusal("This invitation is not good, or no longer.", code="INVITATION_INVALID")
