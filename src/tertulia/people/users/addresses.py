"""Who sees whose email address (pure).

Each account says in `email_address_visibility` who sees its real address. The API address is the real one if everyone
sees it, else a made-up one, for all readers alike, so that it can serve as a name of the account between them.
"""

import functools
import ipaddress
import re
from collections.abc import Container, Iterable, Mapping

import msgspec

from tertulia.kernel.auth import EVERYONE, Role, fake_email
from tertulia.kernel.settings import Settings

__all__ = [
    "ALWAYS",
    "EVERYONE",
    "LOWEST_ROLE",
    "Named",
    "email_key_of",
    "fake_domain",
    "fake_email",
    "id_of_fake_email",
    "may_see",
    "named_by",
    "seen_by",
]

ALWAYS = 0
"""Stands for the visibility of a bot, whose address is no secret to anybody."""
LOWEST_ROLE = {
    ALWAYS: Role.GUEST,
    EVERYONE: Role.GUEST,
    2: Role.MEMBER,
    5: Role.MODERATOR,
    3: Role.ADMINISTRATOR,
    4: 0,
}
"""The lowest role that sees the address, by visibility. 4: nobody."""

_FAKE = re.compile(r"user([1-9][0-9]{0,18})@(.+)")


def may_see(role: int, visibility: int) -> bool:
    """Whether a reader of this role sees an address of this visibility; everybody sees their own."""
    return role <= LOWEST_ROLE[visibility]


@functools.cache
def seen_by(role: int | None) -> tuple[int, ...]:
    """The visibilities whose addresses a reader sees. None: a reader without an account, who sees only bots' ones."""
    if role is None:
        return (ALWAYS,)
    return tuple(sorted(visibility for visibility in LOWEST_ROLE if may_see(role, visibility)))


def fake_domain(settings: Settings, subdomain: str) -> str:
    """The domain of the made-up addresses of a realm: its own host, if that can be the domain of an address."""
    return _fake_domain(subdomain, settings.external_host, settings.fake_email_domain)


@functools.lru_cache(maxsize=1024)
def _fake_domain(subdomain: str, external_host: str, otherwise: str) -> str:
    # By the few settings it takes: to find an answer again by all of them takes longer than the rest.
    host = f"{subdomain}.{external_host}" if subdomain else external_host
    host = host.rpartition(":")[0] or host if host.count(":") == 1 else host
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host if "." in host else otherwise
    return otherwise


def id_of_fake_email(email: str, domain: str) -> int | None:
    """Whose made-up address that is."""
    found = _FAKE.fullmatch(email.strip().lower())
    if found is None or found[2] != domain.lower():
        return None
    user_id = int(found[1])
    return user_id if user_id < 2**63 else None


def email_key_of(email: str) -> str:
    """What makes two addresses the same."""
    return email.strip().lower()


class Named(msgspec.Struct, frozen=True):
    """Whom addresses name, each as it was given. A made-up one names the account that it stands for and nobody else: a
    directory may have given somebody such an address for a real one."""

    user_ids: Mapping[str, int]
    """Of the made-up ones."""
    keys: Mapping[str, str]
    """Of the others."""

    def unknown(self, ids: Container[int], keys: Container[str | None]) -> list[str]:
        """Those that name none of these accounts."""
        made_up = [email for email, user_id in self.user_ids.items() if user_id not in ids]
        return made_up + [email for email, key in self.keys.items() if key not in keys]


def named_by(emails: Iterable[str], domain: str) -> Named:
    """`domain`: that of the realm's made-up addresses."""
    found = {email: id_of_fake_email(email, domain) for email in emails}
    return Named(
        {email: user_id for email, user_id in found.items() if user_id is not None},
        {email: email_key_of(email) for email, user_id in found.items() if user_id is None},
    )
