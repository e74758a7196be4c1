"""The parts of settings that are about providers of log-ins and what their groups are worth here."""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.urls import split_url


class SettingsError(ValueError):
    """A setting that cannot be used; the text says which one and why."""


class Membership(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody is given here for being in a group elsewhere: a place in a user group, or a role."""

    where: str
    """A provider's name of its group; for a directory the name of a group's entry, or in parentheses a filter about people."""
    group: str = ""
    """The name of a user group of the organization."""
    role: Literal["", "administrator", "moderator", "member", "guest"] = ""
    """Nobody becomes an owner by what others say."""

    def __post_init__(self) -> None:
        if not self.where.strip() or bool(self.group) == bool(self.role):
            raise SettingsError("each of the memberships needs `where`, and either `group` or `role`")


ROLES = {
    "administrator": Role.ADMINISTRATOR,
    "moderator": Role.MODERATOR,
    "member": Role.MEMBER,
    "guest": Role.GUEST,
}


def role_given_by(memberships: Iterable[Membership]) -> int | None:
    """The highest role that any of them gives; None: none does."""
    return min((ROLES[membership.role] for membership in memberships if membership.role), default=None)


class OidcProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An OpenID Connect provider that people log in with. Our address there: `/accounts/login/oidc/<name>/callback`."""

    name: str
    """Part of addresses: small letters, digits and hyphens."""
    display_name: str
    issuer: str
    client_id: str
    client_secret: str
    scopes: str = "openid email profile"
    realms: tuple[str, ...] = ("",)
    """Subdomains of the organizations whose people it knows."""
    shares_people: bool = False
    """It knows the same people as the directory and the other providers: a verified address opens an account that one of
    those vouches for already."""
    display_icon: str | None = None
    """An address on this server, such as `/static/icon.svg`: whoever sees the page is told to nobody else."""
    groups_claim: str = ""
    """The claim with the groups of a person, such as `groups` or `realm_access.roles`; empty: `memberships` are not looked at."""
    memberships: tuple[Membership, ...] = ()
    """What its groups are worth here."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", self.name):
            raise SettingsError(
                f"{self.name!r} cannot be the name of a provider: use small letters, digits and hyphens"
            )
        if not is_safe_url(self.issuer):
            raise SettingsError(f"the issuer of {self.name} must be an https address")
        if not self.client_id or len(self.client_secret) < 8:
            raise SettingsError(f"{self.name} needs a client_id and a client_secret")
        if self.display_icon is not None and not re.fullmatch(
            r"/[\w.~%?=&-][\w.~%?=&/-]*", self.display_icon, re.ASCII
        ):
            raise SettingsError(f"the display_icon of {self.name} must be an address on this server, such as /icon.png")
        if "openid" not in self.scopes.split():
            raise SettingsError(f"the scopes of {self.name} must include openid")
        if bool(self.groups_claim) != bool(self.memberships):
            raise SettingsError(f"{self.name} needs both of groups_claim and memberships, or none")


def is_safe_url(url: str) -> bool:
    """Whether nobody on the way can change what is answered there: https, or this very machine."""
    try:
        parts = split_url(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in ("localhost", "127.0.0.1")))
