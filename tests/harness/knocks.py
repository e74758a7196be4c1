"""A small feature of the tests' own, with all that a feature can bring: people knock at a door, and others hear it."""

from collections.abc import Hashable
from typing import Any, Literal

import msgspec

import tests.harness.knocks
from tertulia.events.feature import Feature
from tertulia.events.log.record import Audience, record
from tertulia.events.queues.initial_state import Provider, StateRequest, provider
from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.events.wire import Event
from tertulia.kernel.auth import Caller, Person
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import post
from tertulia.kernel.services import Service, Services
from tertulia.kernel.settings import Settings

AFTER_KNOCK = "after a knock"


class Door:
    """A service: what happened at the door."""

    def __init__(self) -> None:
        self.knocks: list[int] = []
        self.answered = 0
        self.swept = 0
        self.is_shut = False

    async def answer(self) -> None:
        """After the commit of a knock."""
        self.answered += 1

    async def sweep(self) -> int:
        """Now and then."""
        self.swept += 1
        return 0

    async def shut(self) -> None:
        """At the end of the process."""
        self.is_shut = True


class Knock(msgspec.Struct):
    """What the log has of a knock."""

    user_id: int


class KnockEvent(Event, frozen=True, kw_only=True):
    """Somebody knocked."""

    type: Literal["knock"]
    by: str


KEYS = {"knocks": list[int]}


class KnockPresenter:
    """Those who knocked read it otherwise than the rest."""

    def variant(self, logged: LoggedEvent, listener: Listener) -> Hashable:
        return listener.user_id == _knock(logged).user_id

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        user_id = _knock(logged).user_id
        return b'"by":"you"' if listener.user_id == user_id else b'"by":"user %d"' % user_id


def _knock(logged: LoggedEvent) -> Knock:
    return msgspec.json.decode(logged.record.event, type=Knock)


@post("/knocks")
async def knock(caller: Person, tx: Transaction, door: Door) -> dict[str, int]:
    """Knock at the door."""
    door.knocks.append(caller.user_id)
    tx.emit(caller.realm_id, record(Audience(realm=True), "knock", Knock(caller.user_id)))
    tx.follow_up(AFTER_KNOCK)
    return {"count": len(door.knocks)}


def knocks_so_far(services: Services) -> Provider:
    """The feature's part of POST /register."""

    @provider("knock")
    async def provide(_reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
        return {"knocks": services[Door].knocks}

    return provide


def knocks_at(door: Door) -> Feature:
    """The feature, at this door."""
    return Feature(
        name="knocks",
        routes=(tests.harness.knocks,),
        wire=tests.harness.knocks,
        state=(knocks_so_far,),
        presenters={"knock": KnockPresenter()},
        services=(Service(Door, lambda _: door, close=Door.shut),),
        follow_ups={AFTER_KNOCK: lambda services: services[Door].answer},
        chores=(Chore("sweep", 1.0, lambda services: services[Door].sweep),),
    )
