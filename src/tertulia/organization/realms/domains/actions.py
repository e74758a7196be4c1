"""Where the addresses of people may be.

An organization may name the domains its people have addresses at (`emails_restricted_to_domains`), or at least refuse
those that anybody gets for ten minutes (`disallow_disposable_email_addresses`). Checked whenever an address becomes
somebody's: for new accounts, however they come, and for changes. Operators at the command line are trusted.
"""

import functools
import re
from collections.abc import Sequence

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller, check_owner
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.realms import queries
from tertulia.organization.realms.bounds import DOMAINS
from tertulia.organization.realms.changing.actions import change_settings, check_is_administrator
from tertulia.organization.realms.settings import RealmSettings

MAX_DOMAIN_LENGTH = 253
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class RealmDomain(msgspec.Struct, frozen=True):
    """A domain of an organization, as the API shows it."""

    domain: str
    allow_subdomains: bool


async def check_address_allowed(reader: Reader, realm_id: int, email: str) -> None:
    """Refuse an address that nobody in the organization may have."""
    check_address(*await queries.address_rules(reader, realm_id), email)


def check_address(settings: RealmSettings, domains: Sequence[tuple[str, bool]], email: str) -> None:
    """As `check_address_allowed`, by the settings and domains of the organization (pure)."""
    name, _, domain = email.strip().lower().rpartition("@")
    if settings.emails_restricted_to_domains:
        if "+" in name:
            raise Refusal("Email addresses containing + are not allowed.")
        if not any(is_within(domain, RealmDomain(*allowed)) for allowed in domains):
            raise Refusal(f"Email '{email.strip()}' is not allowed in this organization.")
    elif settings.disallow_disposable_email_addresses and is_disposable(domain):
        raise Refusal("Disposable email addresses are not allowed in this organization.")


def is_within(domain: str, allowed: RealmDomain) -> bool:
    """Whether an address's domain is one of the organization."""
    return domain == allowed.domain or (allowed.allow_subdomains and domain.endswith(f".{allowed.domain}"))


def is_disposable(domain: str) -> bool:
    """Whether anybody gets an address there, for a while. Their subdomains are no better."""
    parts = domain.split(".")
    return any(".".join(parts[start:]) in _blocklist() for start in range(len(parts) - 1))


@functools.cache
def _blocklist() -> frozenset[str]:
    from disposable_email_domains import blocklist  # half a megabyte, which most processes never need

    return frozenset(blocklist)


def clean_domain(text: str) -> str:
    """A domain as it is stored."""
    domain = text.strip().lower()
    if len(domain) > MAX_DOMAIN_LENGTH or not _DOMAIN.fullmatch(domain):
        raise Refusal("Invalid domain: it has letters, digits, hyphens, and at least one dot, as in example.com.")
    return domain


async def add_domain(tx: Transaction, caller: Caller, domain: str, *, allow_subdomains: bool) -> int:
    """Add a domain to the organization; returns its number."""
    new = RealmDomain(clean_domain(domain), allow_subdomains)
    await _hold(tx, caller)
    number = await queries.insert_domain(tx, caller.realm_id, new.domain, allow_subdomains=allow_subdomains)
    if number is None:
        raise Refusal(f"The domain {new.domain} is already a part of this organization.")
    await check_count(tx, DOMAINS, caller.realm_id, adding=0)
    _tell(tx, caller, op="add", realm_domain=new)
    note(tx, caller.realm_id, Act.DOMAIN_ADDED, realm(caller.realm_id), domain=(None, new))
    return number


async def change_domain(tx: Transaction, caller: Caller, domain: str, *, allow_subdomains: bool) -> None:
    """Set whether addresses at subdomains of a domain are allowed too."""
    await _hold(tx, caller)
    now = RealmDomain(domain.strip().lower(), allow_subdomains)
    was = {one.domain: one for one in await domains_of(tx, caller.realm_id)}.get(now.domain)
    if was is None:
        raise no_such_domain(domain)
    if was != now:
        await queries.update_domain(tx, caller.realm_id, now.domain, allow_subdomains=allow_subdomains)
        _tell(tx, caller, op="change", realm_domain=now)
        note(tx, caller.realm_id, Act.DOMAIN_CHANGED, realm(caller.realm_id), domain=(was, now))


async def remove_domain(tx: Transaction, caller: Caller, domain: str) -> None:
    """Remove a domain. With the last one the restriction to domains ends: else nobody could join."""
    await _hold(tx, caller)
    domain = domain.strip().lower()
    if not await queries.delete_domain(tx, caller.realm_id, domain):
        raise no_such_domain(domain)
    _tell(tx, caller, op="remove", domain=domain)
    note(tx, caller.realm_id, Act.DOMAIN_REMOVED, realm(caller.realm_id), domain=(domain, None))
    if not await domains_of(tx, caller.realm_id):
        await change_settings(tx, caller.realm_id, {"emails_restricted_to_domains": False})


async def domains_of(reader: Reader, realm_id: int) -> list[RealmDomain]:
    """The domains of an organization, in the order they came."""
    return [RealmDomain(*found) for found in (await queries.address_rules(reader, realm_id))[1]]


async def _hold(tx: Transaction, caller: Caller) -> None:
    """One change at a time, by somebody who is an owner now."""
    check_owner(await check_is_administrator(tx, caller))
    await queries.lock_realm(tx, caller.realm_id)


def no_such_domain(domain: str) -> Refusal:
    """None that the organization has."""
    return Refusal(f"The domain {domain} is not a part of this organization.")


def _tell(tx: Transaction, caller: Caller, **event: object) -> None:
    tx.emit(caller.realm_id, record(Audience(realm=True), "realm_domains", event))
