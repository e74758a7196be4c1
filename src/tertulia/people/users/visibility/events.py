"""Telling limited guests whom they come to see, and whom they lose sight of: `realm_user` events `add` and `remove`.

Whoever changes subscriptions, or begins a direct conversation, calls here: in the same transaction, once, after all its
other locks, and before it tells of the change itself. In organizations where guests see everybody (nearly all) that is
one cheap statement. Elsewhere one such change at a time looks at the others: of two people who come together by two
transactions, the later one sees both. Whoever changes a person shares the same lock (`those_who_know`): they come
before, and what is told here has their change, or after, and tell the guests who see the person by then.

Only invitations are locked after that (who joins or goes takes them off the list); nobody who holds one asks here. What is
left open while the limitation is turned on: docs/decisions/0051.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.people.users import events, queries
from tertulia.people.users.statements import MET, TOGETHER

MAX_TOLD = 200
"""Of so many people at once a guest is told one by one; of more, their client asks for the state again."""

Seen = dict[int, list[int]]
"""People, each with the guests who came to see them or lost sight of them."""


async def tell_subscribed(tx: Transaction, realm_id: int, joined: Sequence[tuple[int, int]]) -> Seen:
    """Users, each with a channel they were not in before this transaction; who was told of whom."""
    if joined and await queries.lock_visibility(tx, realm_id):
        return await _tell_seen(tx, realm_id, await _find(tx, TOGETHER[True], joined))
    return {}


async def tell_unsubscribed(tx: Transaction, realm_id: int, left: Sequence[tuple[int, int]]) -> None:
    """Users, each with a channel they were in before this transaction."""
    if left and await queries.lock_visibility(tx, realm_id):
        await _tell_lost(tx, realm_id, await _find(tx, TOGETHER[False], left))


async def tell_met(tx: Transaction, realm_id: int, conversation_id: int) -> Seen:
    """A direct conversation that this transaction made; who was told of whom."""
    if await queries.lock_visibility(tx, realm_id):
        return await _tell_seen(tx, realm_id, _by_person(await tx.fetch(MET, conversation_id)))
    return {}


async def _find(tx: Transaction, sql: str, changed: Sequence[tuple[int, int]]) -> Seen:
    users, channels = zip(*changed, strict=True)
    return _by_person(await tx.fetch(sql, users, channels))


def _by_person(rows: Sequence[asyncpg.Record]) -> Seen:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        found[row["person_id"]].append(row["guest_id"])
    return found


async def _tell_seen(tx: Transaction, realm_id: int, seen: Seen) -> Seen:
    told = _end_queues(tx, realm_id, seen)
    for person in await queries.persons_for_guests(tx, sorted(told)):
        to = Audience(users=tuple(sorted(told[person.id])))
        tx.emit(realm_id, events.added(to, person))
        if not person.is_active:
            tx.emit(realm_id, events.updated(to, person.id, is_active=False))
    return told


async def _tell_lost(tx: Transaction, realm_id: int, lost: Seen) -> None:
    told = _end_queues(tx, realm_id, lost)
    subdomain = await queries.subdomain_of(tx, realm_id) if told else ""
    for person_id, guests in sorted(told.items()):
        to = Audience(users=tuple(sorted(guests)))
        tx.emit(realm_id, events.removed(to, person_id))
        tx.emit(realm_id, events.unknown_added(to, person_id, subdomain))


def _end_queues(tx: Transaction, realm_id: int, seen: Seen) -> Seen:
    """End the queues of guests for whom too much changes at once; returns what is left to tell."""
    numbers = Counter(guest for guests in seen.values() for guest in guests)
    ended = {guest for guest, number in numbers.items() if number > MAX_TOLD}
    if not ended:
        return seen
    tx.emit(realm_id, record(Audience(), "realm_user", msgspec.Raw(b"{}"), ends=tuple(sorted(ended))))
    left = {person: [guest for guest in guests if guest not in ended] for person, guests in seen.items()}
    return {person: guests for person, guests in left.items() if guests}
