"""Telling limited guests whom they come to see, and whom they lose sight of: `realm_user` events `add` and `remove`.

Whoever changes subscriptions, or begins a direct conversation, calls here: in the same transaction, once, after all its
other locks, and before it tells of the change itself. In organizations where guests see everybody (nearly all) that is
one cheap statement. Elsewhere one such change at a time looks at the others: of two people who come together by two
transactions, the later one sees both.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.events.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.users import events, queries
from tertulia.users.statements import MET, TOGETHER

MAX_TOLD = 200
"""Of so many people at once a guest is told one by one; of more, their client asks for the state again."""

Seen = dict[int, list[int]]
"""People, each with the guests who came to see them or lost sight of them."""


async def tell_subscribed(tx: Transaction, realm_id: int, joined: Sequence[tuple[int, int]]) -> None:
    """Users, each with a channel they were not in before this transaction."""
    if joined and await queries.lock_sight(tx, realm_id):
        await _tell_seen(tx, realm_id, await _find(tx, TOGETHER[True], joined))


async def tell_unsubscribed(tx: Transaction, realm_id: int, left: Sequence[tuple[int, int]]) -> None:
    """Users, each with a channel they were in before this transaction."""
    if left and await queries.lock_sight(tx, realm_id):
        await _tell_lost(tx, realm_id, await _find(tx, TOGETHER[False], left))


async def tell_met(tx: Transaction, realm_id: int, conversation_id: int) -> None:
    """A direct conversation that this transaction made."""
    if await queries.lock_sight(tx, realm_id):
        await _tell_seen(tx, realm_id, _by_person(await tx.fetch(MET, conversation_id)))


async def _find(tx: Transaction, sql: str, changed: Sequence[tuple[int, int]]) -> Seen:
    users, channels = zip(*changed, strict=True)
    return _by_person(await tx.fetch(sql, users, channels))


def _by_person(rows: Sequence[asyncpg.Record]) -> Seen:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        found[row["person_id"]].append(row["guest_id"])
    return found


async def _tell_seen(tx: Transaction, realm_id: int, seen: Seen) -> None:
    told = _end_queues(tx, realm_id, seen)
    for person in await queries.hold_persons(tx, sorted(told)):
        to = Audience(users=tuple(sorted(told[person.id])))
        tx.emit(realm_id, events.added(to, person))
        if not person.is_active:
            tx.emit(realm_id, events.updated(to, person.id, is_active=False))


async def _tell_lost(tx: Transaction, realm_id: int, lost: Seen) -> None:
    for person_id, guests in sorted(_end_queues(tx, realm_id, lost).items()):
        tx.emit(realm_id, events.removed(Audience(users=tuple(sorted(guests))), person_id))


def _end_queues(tx: Transaction, realm_id: int, seen: Seen) -> Seen:
    """End the queues of guests for whom too much changes at once; what is left to tell."""
    numbers = Counter(guest for guests in seen.values() for guest in guests)
    ended = {guest for guest, number in numbers.items() if number > MAX_TOLD}
    if not ended:
        return seen
    tx.emit(realm_id, record(Audience(), "realm_user", msgspec.Raw(b"{}"), ends=tuple(sorted(ended))))
    left = {person: [guest for guest in guests if guest not in ended] for person, guests in seen.items()}
    return {person: guests for person, guests in left.items() if guests}
