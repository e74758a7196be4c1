"""What can be done to realms."""

import re

import asyncpg

from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.groups.statements import insert_system_groups
from tertulia.organization.realms import queries
from tertulia.organization.realms.limits import MAX_REALM_NAME_LENGTH

MAX_ENDS = 10_000
"""How many queues one event may end: it must fit into a message of the log."""
_SUBDOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,38}")


async def create_realm(tx: Transaction, subdomain: str, name: str, description: str = "") -> int:
    """Make an organization with its system groups and its notification bot; returns its id."""
    check_subdomain(subdomain)
    if not 1 <= len(name) <= MAX_REALM_NAME_LENGTH:
        raise Refusal(f"An organization's name has 1 to {MAX_REALM_NAME_LENGTH} characters.")
    try:
        realm_id = await queries.insert_realm(tx, subdomain, name, description)
    except asyncpg.UniqueViolationError as error:
        raise Refusal(f"There is an organization at the subdomain {subdomain!r} already.") from error
    await insert_system_groups(tx, realm_id)
    await queries.insert_notification_bot(tx, realm_id)
    note(tx, realm_id, Act.REALM_CREATED, realm(realm_id), name=(None, name), subdomain=(None, subdomain))
    return realm_id


def check_subdomain(subdomain: str) -> None:
    """Refuse what no organization can be at; nothing stands for the main address."""
    if subdomain and not _SUBDOMAIN.fullmatch(subdomain):
        raise Refusal(
            "A subdomain has up to 39 lower-case letters, digits and hyphens, and starts with none of the last."
        )


async def switch_realm(tx: Transaction, realm_id: int, *, is_active: bool) -> bool:
    """Let nobody into an organization, or let its people in again; returns whether that is new. Nothing of it is lost."""
    held = await queries.lock_realm(tx, realm_id)
    if held.is_active == is_active:
        return False
    people = await queries.switch(tx, realm_id, is_active=is_active)
    note(tx, realm_id, Act.REALM_CHANGED, realm(realm_id), is_active=(held.is_active, is_active))
    for start in range(0, 0 if is_active else len(people), MAX_ENDS):
        tx.emit(realm_id, record(Audience(), "ends", {}, ends=tuple(people[start : start + MAX_ENDS])))
    return True
