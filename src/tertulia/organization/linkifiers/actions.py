"""Changing the linkifiers of an organization."""

from collections.abc import Sequence

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, differences, note, realm
from tertulia.organization.linkifiers import queries
from tertulia.organization.linkifiers.bounds import LINKIFIERS
from tertulia.organization.linkifiers.model import LinkifierRecord
from tertulia.organization.linkifiers.rules import check_linkifier, check_together
from tertulia.organization.realms.changing.actions import check_is_administrator

URL_TEMPLATES = "linkifier_url_template"
"""The capability of clients that understand them."""


async def add(tx: Transaction, caller: Caller, new: LinkifierRecord) -> int:
    """Add a linkifier, tried last; returns its id."""
    await _hold(tx, caller)
    check_linkifier(new)
    linkifier_id = await queries.insert_linkifier(tx, caller.realm_id, new)
    if linkifier_id is None:
        raise _taken()
    await check_count(tx, LINKIFIERS, caller.realm_id, adding=0)
    check_together(await queries.linkifiers_of(tx, caller.realm_id))
    await _tell(tx, caller)
    changes = differences({}, msgspec.structs.asdict(msgspec.structs.replace(new, id=linkifier_id)))
    note(tx, caller.realm_id, Act.LINKIFIER_ADDED, ("linkifier", linkifier_id), **changes)
    return linkifier_id


async def change(tx: Transaction, caller: Caller, linkifier_id: int, changed: dict[str, object]) -> None:
    """Change what is given."""
    await _hold(tx, caller)
    old = {one.id: one for one in await queries.linkifiers_of(tx, caller.realm_id)}.get(linkifier_id)
    if old is None:
        raise _unknown()
    new = msgspec.structs.replace(old, **changed)
    check_linkifier(new)
    if new == old:
        return
    if not await queries.update_linkifier(tx, caller.realm_id, new):
        raise _taken()
    check_together(await queries.linkifiers_of(tx, caller.realm_id))
    await _tell(tx, caller)
    changes = differences(msgspec.structs.asdict(old), msgspec.structs.asdict(new))
    note(tx, caller.realm_id, Act.LINKIFIER_CHANGED, ("linkifier", linkifier_id), **changes)


async def remove(tx: Transaction, caller: Caller, linkifier_id: int) -> None:
    """One less. What it made of messages stays."""
    await _hold(tx, caller)
    if not await queries.delete_linkifier(tx, caller.realm_id, linkifier_id):
        raise _unknown()
    await _tell(tx, caller)
    note(tx, caller.realm_id, Act.LINKIFIER_REMOVED, ("linkifier", linkifier_id))


async def order(tx: Transaction, caller: Caller, ids: Sequence[int]) -> None:
    """Try them in another order."""
    await _hold(tx, caller)
    known = [one.id for one in await queries.linkifiers_of(tx, caller.realm_id)]
    if sorted(ids) != sorted(known):
        raise Refusal("ordered_linkifier_ids names each linkifier once, and no other.")
    if list(ids) != known:
        await queries.reorder(tx, caller.realm_id, ids)
        await _tell(tx, caller)
        note(tx, caller.realm_id, Act.LINKIFIER_CHANGED, realm(caller.realm_id), order=(known, list(ids)))


async def _hold(tx: Transaction, caller: Caller) -> None:
    await check_is_administrator(tx, caller)
    await queries.hold_realm(tx, caller.realm_id)


async def _tell(tx: Transaction, caller: Caller) -> None:
    event = {"realm_linkifiers": await queries.linkifiers_of(tx, caller.realm_id)}
    tx.emit(caller.realm_id, record(Audience(realm=True, needs=URL_TEMPLATES), "realm_linkifiers", event))


def _unknown() -> Refusal:
    return Refusal("There is no such linkifier.")


def _taken() -> Refusal:
    return Refusal("There is a linkifier with this pattern already.")
