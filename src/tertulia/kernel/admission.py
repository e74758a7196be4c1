"""Who calls, and how often they may: the one way in for whatever takes credentials.

Nothing else asks the authenticator, so nowhere can credentials be tried without cost: those that are wrong are charged to the
address they came from, wherever they were tried. tests/rules/test_admission.py holds this.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from tertulia.kernel.arriving import ArrivingBodies
from tertulia.kernel.audit import request_under_way
from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.endpoint import Authenticator
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import REFUSED, RateLimits, TimeBudgets, network_of, too_often
from tertulia.kernel.refused_keys import RefusedKeys
from tertulia.kernel.threads import Lanes

C = TypeVar("C", bound=Caller)
OF_NETWORK = 4
"""So many times as many as of one person are under way of a network whose callers have no credentials: a company may be one."""
WAITING = 10
"""So many times as many as may be under way wait for their turn."""
BURST_SECONDS = 10.0
"""So long may somebody keep the event loop to themselves by dear requests; registering in a large organization is one."""
SHARE = 0.05
"""How fast that comes back: whoever has used it up has a twentieth of the time of this process."""
DATABASE_BURST_SECONDS = 30.0
DATABASE_SHARE = 0.1
"""The same for time of the database beyond what is ordinary (kernel/shares.py)."""
EVENT_SECONDS = 0.0001
"""What an event costs the relay and a web process after the request that wrote it, measured: 40 and 60 us."""
FILES = "files"
"""The kind of calls that read and send files."""
FEW_EVENTS = 100
"""So many of one request cost nothing: it is what requests usually do."""
_PERSON = "person "


class Admission:
    """Lets requests in, or refuses them. Without an authenticator there is only nobody; without limits nothing costs anything."""

    def __init__(
        self,
        authenticator: Authenticator | None = None,
        limits: RateLimits | None = None,
        *,
        at_once: int = 0,
        files_at_once: int = 0,
        arriving_bytes: int = 0,
    ) -> None:
        """`at_once`: so many requests of one person, with those of their bots, are under way; 0: any number.

        `files_at_once`: the same for requests of files, whose senders and readers take as long as they like.
        `arriving_bytes`: of all bodies that lie in memory until their requests are answered; 0: any number.
        """
        self._authenticator = authenticator
        self._limits = limits
        self._turns = None if limits is None else TimeBudgets(BURST_SECONDS, SHARE)
        self._database = None if limits is None else TimeBudgets(DATABASE_BURST_SECONDS, DATABASE_SHARE)
        self._lanes = _lanes(at_once)
        self._network_lanes = _lanes(at_once * OF_NETWORK)
        self._file_lanes = _lanes(files_at_once)
        self._network_file_lanes = _lanes(files_at_once * OF_NETWORK)
        self._refused = RefusedKeys()
        self.arriving = ArrivingBodies(arriving_bytes) if arriving_bytes else None

    @property
    def authenticates(self) -> bool:
        """Whether it can tell who calls."""
        return self._authenticator is not None

    async def admit(
        self, call: Call, kind: type[C], *, optional: bool, unlimited: bool = False, limit: str | None = None
    ) -> C | None:
        """The caller, charged for this call; refuses wrong credentials, and who calls too often.

        `unlimited`: of files, which pages show by the hundred: valid credentials have a budget of their own for them.
        `limit`: a kind of call that has a budget of its own.
        """
        assert self._authenticator is not None
        kind_of_call = FILES if unlimited else ""
        self._refused.check(call, kind_of_call)
        try:
            call.admitted = time.monotonic()
            caller = await self._authenticator.authenticate(call, kind, optional)
        except Refusal:
            await self.charge(call, None)
            raise
        if caller is None:
            await self.charge(call, None, limit)
            return None
        try:
            self._check_turns(call, caller)
            if self._limits is not None:
                await (self._limits.check_files(caller) if unlimited else self._limits.check(call, caller))
        except Refusal as refusal:
            self._refused.remember(call, kind_of_call, refusal)
            raise
        if limit is not None and self._limits is not None:
            await self._limits.check_kind(call, limit)
        return caller

    async def look_again(self, call: Call, kind: type[C], *, optional: bool) -> C | None:
        """The same caller as of now, long after they were let in: who they are may have changed. It has been charged for."""
        assert self._authenticator is not None
        try:
            caller = await self._authenticator.authenticate(call, kind, optional)
        finally:
            call.admitted = time.monotonic()
        return caller

    async def charge(self, call: Call, caller: Caller | None, limit: str | None = None) -> None:
        """Spend what a call costs, which takes no credentials or had them looked at."""
        self._check_turns(call, caller)
        if self._limits is not None:
            await self._limits.check(call, caller)
            if limit is not None:
                await self._limits.check_kind(call, limit)

    async def enter(self, call: Call, *, files: bool = False) -> str:
        """Wait until few enough requests of who pays are under way; refuses when too many wait. Call `leave` at the end.

        Whatever a request turns out to cost, nobody takes all connections of the database, or all turns of the event loop.
        """
        lanes = self._lanes_of(call.payer, files)
        return "" if lanes is None else await lanes.enter_as(call.payer)

    def is_full(self, call: Call, *, files: bool = False) -> bool:
        """Whether it would wait for others of who pays."""
        lanes = self._lanes_of(call.payer, files)
        return lanes is not None and lanes.is_full(call.payer)

    def leave(self, place: str, *, files: bool = False) -> None:
        """The request is over, and the next one's turn has come."""
        lanes = self._lanes_of(place, files)
        if lanes is not None:
            lanes.leave(place)

    @asynccontextmanager
    async def let_network_in(self, call: Call) -> AsyncIterator[None]:
        """Around what is shown to whoever knows its address. No rate: a page shows hundreds, and a company is one network."""
        self._check_turns(call, None)
        place = await self.enter(call, files=True)
        try:
            with request_under_way(call, None):
                yield
        finally:
            self.leave(place, files=True)
            self.settle(call)

    def _lanes_of(self, payer: str, files: bool) -> Lanes | None:
        is_person = payer.startswith(_PERSON)
        if files:
            return self._file_lanes if is_person else self._network_file_lanes
        return self._lanes if is_person else self._network_lanes

    def check_again(self, call: Call) -> None:
        """Refuse who has used up their time since they were let in: they may have been let in many times before."""
        for name, budgets in (("turns", self._turns), ("database", self._database)):
            if budgets is not None and (seconds := budgets.wait(call.payer)):
                REFUSED.labels(name).inc()
                raise too_often(seconds)

    def took(self, call: Call, seconds: float) -> None:
        """This request had the event loop to itself for so much longer than is free (kernel/turns.py)."""
        if self._turns is not None:
            self._turns.spend(call.payer or _network(call), seconds)

    def settle(self, call: Call) -> None:
        """The request is over. What its events cost comes after it, and is its caller's all the same."""
        if call.events > FEW_EVENTS:
            self.took(call, (call.events - FEW_EVENTS) * EVENT_SECONDS)
        if call.database_seconds and self._database is not None:
            self._database.spend(call.payer or _network(call), call.database_seconds)

    def _check_turns(self, call: Call, caller: Caller | None) -> None:
        call.payer = _network(call) if caller is None else f"{_PERSON}{caller.person_id}"
        self.check_again(call)


def _network(call: Call) -> str:
    return network_of(call.peer) or "unknown"


def _lanes(inside: int) -> Lanes | None:
    return Lanes(inside=inside, waiting=WAITING * inside, refusal=_too_many) if inside else None


def _too_many() -> Refusal:
    REFUSED.labels("at once").inc()
    return too_often(1.0)
