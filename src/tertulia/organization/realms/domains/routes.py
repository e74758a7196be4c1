"""Endpoints of the domains of an organization. Owners change them: they say who comes in."""

import msgspec

from tertulia.kernel.auth import Owner, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, patch, post
from tertulia.organization.realms.domains import actions as domains
from tertulia.organization.realms.domains.actions import RealmDomain


class Domains(msgspec.Struct):
    """The answer of GET /realm/domains."""

    domains: list[RealmDomain]


class NewDomain(msgspec.Struct):
    """The answer of POST /realm/domains."""

    new_domain: tuple[int, str]


@get("/realm/domains")
async def get_domains(caller: Person, reader: Reader) -> Domains:
    """The domains at which people of the organization have their addresses."""
    return Domains(await domains.domains_of(reader, caller.realm_id))


@post("/realm/domains")
async def create_domain(caller: Owner, tx: Transaction, *, domain: str, allow_subdomains: bool) -> NewDomain:
    """Add a domain. It matters where `emails_restricted_to_domains` is set."""
    number = await domains.add_domain(tx, caller, domain, allow_subdomains=allow_subdomains)
    return NewDomain((number, domains.clean_domain(domain)))


@patch("/realm/domains/{domain}")
async def change_domain(caller: Owner, tx: Transaction, *, domain: str, allow_subdomains: bool) -> None:
    """Change whether addresses at subdomains of a domain are allowed too."""
    await domains.change_domain(tx, caller, domain, allow_subdomains=allow_subdomains)


@delete("/realm/domains/{domain}")
async def remove_domain(caller: Owner, tx: Transaction, *, domain: str) -> None:
    """Remove a domain. Removing the last one also ends the restriction to domains."""
    await domains.remove_domain(tx, caller, domain)
