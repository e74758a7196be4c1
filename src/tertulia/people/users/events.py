"""The events of users, and who hears them.

An address is told only to those who see it: such an event carries two forms of the person, and the presenter picks the
listener's. Where guests do not see everybody, a guest hears only of people they can see.
"""

from collections.abc import Hashable, Sequence

import msgspec

from tertulia.events.log.record import Audience, Record, record
from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.settings import Settings
from tertulia.people.users import queries
from tertulia.people.users.addresses import EVERYONE, LOWEST_ROLE, fake_domain
from tertulia.people.users.queries import UserSnapshot
from tertulia.people.users.visibility.actions import unknown_user

INCOMPLETE = "user_list_incomplete"
"""The capability of clients that do without those whom their user does not see."""
_encode = msgspec.json.Encoder().encode
_NOTHING = msgspec.Raw()


class PersonTold(msgspec.Struct, frozen=True, omit_defaults=True):
    """The log's event of a user."""

    op: str
    person: msgspec.Raw
    user_id: int = 0
    hidden: msgspec.Raw = _NOTHING
    """The person, for those who do not see the address; empty if there is no address in it."""
    lowest_role: int = 0
    """The lowest role that sees the address."""
    subdomain: str | None = None
    """If the person has a made-up address, written without its domain: where the realm is."""


_decoder = msgspec.json.Decoder(PersonTold)


class UserPresenter:
    """Shows `realm_user` events: at most two texts of each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def variant(self, logged: LoggedEvent, listener: Listener) -> Hashable:
        """Whether the listener sees the address."""
        return _sees(_told(logged), listener)

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        told = _told(logged)
        person = bytes(told.person if _sees(told, listener) else told.hidden)
        if told.subdomain is not None:
            # Quotes inside a value are escaped: this can be nothing but the end of the made-up address.
            domain = fake_domain(self._settings, told.subdomain).encode()
            person = person.replace(
                b'"email":"user%d@"' % told.user_id, b'"email":"user%d@%b"' % (told.user_id, domain)
            )
        return b'"op":"%b","person":%b' % (told.op.encode(), person)


def _sees(told: PersonTold, listener: Listener) -> bool:
    return not bytes(told.hidden) or listener.role <= told.lowest_role or listener.user_id == told.user_id


def _told(logged: LoggedEvent) -> PersonTold:
    if logged.decoded is None:
        logged.decoded = _decoder.decode(logged.record.event)
    assert isinstance(logged.decoded, PersonTold)
    return logged.decoded


def added(to: Audience, person: UserSnapshot) -> Record:
    """A user who is new, or becomes visible."""
    told = PersonTold(
        op="add",
        person=msgspec.Raw(person.seen or person.hidden),
        user_id=person.id,
        hidden=msgspec.Raw(person.hidden) if person.seen else _NOTHING,
        lowest_role=LOWEST_ROLE[person.email_visibility],
        subdomain=person.subdomain if person.email_visibility > EVERYONE else None,
    )
    return record(to, "realm_user", told)


def unknown_added(to: Audience, user_id: int, subdomain: str) -> Record:
    """A user whom those guests do not see whose clients count on knowing everybody."""
    person = msgspec.Raw(_encode(unknown_user(user_id, "")))
    told = PersonTold(op="add", person=person, user_id=user_id, subdomain=subdomain)
    return record(msgspec.structs.replace(to, lacks=INCOMPLETE), "realm_user", told)


def removed(to: Audience, user_id: int) -> Record:
    """A user who is no longer visible."""
    return record(to, "realm_user", PersonTold(op="remove", person=msgspec.Raw(_encode({"user_id": user_id}))))


def updated(to: Audience, user_id: int, *, ends: tuple[int, ...] = (), **changed: object) -> Record:
    """A change that whoever knows the user may know."""
    told = PersonTold(op="update", person=msgspec.Raw(_encode({"user_id": user_id, **changed})))
    return record(to, "realm_user", told, ends=ends)


def address_changed(to: Audience, user_id: int, email: str, visibility: int) -> Record:
    """What each reader sees of an address from now on: the address itself, or that it is hidden."""
    told = PersonTold(
        op="update",
        person=msgspec.Raw(_encode({"user_id": user_id, "delivery_email": email})),
        user_id=user_id,
        hidden=msgspec.Raw(_encode({"user_id": user_id, "delivery_email": None})),
        lowest_role=LOWEST_ROLE[visibility],
    )
    return record(to, "realm_user", told)


async def those_who_know(tx: Transaction, realm_id: int, user_id: int) -> Audience:
    """Everybody who may hear of a user. Features that emit `realm_user` events ask here for their audience.

    Ask after the last lock: no guest comes to see the user, or loses sight of them, until the commit.
    """
    if not await queries.hold_visibility(tx, realm_id, user_id):
        return Audience(realm=True)
    return await those_who_know_now(tx, realm_id, user_id)


async def those_who_know_now(reader: Reader, realm_id: int, user_id: int) -> Audience:
    """As `those_who_know`, where it does no harm that a guest comes to see the user at the same moment."""
    guests = await queries.limited_guests(reader, realm_id, user_id)
    return Audience(realm=True) if guests is None else Audience(members=True, users=guests)


async def tell_invites(tx: Transaction, realm_id: int, inviters: Sequence[int]) -> None:
    """The list of invitations changed, for those who sent them and for administrators."""
    to = {*inviters, *await queries.administrators(tx, realm_id)}
    tx.emit(realm_id, record(Audience(users=tuple(sorted(to))), "invites_changed", {}))
