"""The door of a web process: as many requests are let in as are answered in time, and the others are turned away at once.

A server that begins everything it is asked for finishes nothing in time as soon as it is asked for more than it can do: each
request waits behind all others, clients give up and ask again. So the door counts what is under way. How many that may be is not
a setting: it is found out, as TCP finds out how fast a network is. While what is let in takes longer than it should, a little
less is let in; while it does not and others are turned away, a little more.

- Turning away costs next to nothing: only the head of the request was read, nothing was looked up, and no task of ours began.
- The time that requests wait before we read them is not seen. It is about as long as a turn of the event loop, so that counts.
- Polls are let in as long as the event loop turns at all: most of them only wait, and whoever polls less often costs as much.
  Sends, registrations and all others have a part each that the rest cannot take. Registrations are the first to be turned away:
  they are the dearest, and who registers has nobody waiting for what they say.
- Where everything takes long by itself, because the database is far away, turning people away would not help. So it is measured
  how long requests take while there are few, and slow is what takes twice as long as that.
- What waits for its client or for others' servers is not counted: bodies that arrive, answers that are read, files. Nor is what
  waits for other requests of the same person: or one who asks for dozens of things at once would shut the door for all others.
- A request that got in and has waited for too long all the same is refused before it begins to act (`Visit.check_patience`).
"""

import asyncio
import enum
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from prometheus_client import Counter, Gauge

from tertulia.kernel.errors import Refusal, server_not_ready, spread

REFUSED = Counter("tertulia_door_refused", "Requests turned away because the process is too busy, by kind", ["kind"])
UNDER_WAY = Gauge(
    "tertulia_door_under_way", "Requests that were let in and are not answered yet, without polls and files"
)
LIMIT = Gauge("tertulia_door_limit", "How many of them there may be, as it was found out")

FEWEST, FIRST, MOST = 16, 256, 2000
"""How many may be under way: at least, at first, and at most."""
TICK_SECONDS = 0.25
"""How often it is thought over."""
LESS, MORE = 0.8, 1.1
SLOW_PART = 0.25
"""Of what was answered since: if more than this was slow, so is the server. A few may be slow by themselves."""
STUCK_SECONDS = 1.0
"""Polls are turned away, too, while the event loop takes so long for a turn."""
PATIENCE = 3.0
"""So many times as long as things should take may pass until a request begins to act."""
LATEST_SECONDS = 15.0
"""Nobody is told to come back later than this, but for a random part."""
TOO_BUSY = "The server has too much to do right now. Please try again in a moment."


class Kind(enum.Enum):
    """Of requests, as far as their first line tells."""

    POLL = "poll"
    SEND = "send"
    REGISTER = "register"
    OTHER = "other"
    ELSEWHERE = "elsewhere"
    """Pages and what they show, and other protocols: they have bounds of their own."""

    __hash__ = object.__hash__  # by identity: that of Enum is a function of Python


PARTS = {Kind.SEND: 0.5, Kind.OTHER: 0.25, Kind.REGISTER: 0.05}
"""What no other kind can take away."""
REGISTERING_PART = 0.5
"""Registrations may take what others leave, up to here."""
REGISTER_WEIGHT = 8
"""A registration costs as much as so many other requests."""
CALM = FEWEST // 2
"""While so few are under way, what takes long does not do so because there are too many."""
CALM_WEIGHT = 0.05
"""How much the newest measurement counts."""


VISIT = "tertulia.visit"
"""Where a request's scope has its visit."""
_KINDS = {
    (b"GET", b"/api/v1/events"): Kind.POLL,
    (b"POST", b"/api/v1/messages"): Kind.SEND,
    (b"POST", b"/api/v1/register"): Kind.REGISTER,
}


def kind_of(method: bytes, path: bytes) -> Kind:
    """What a request wants (pure)."""
    return _KINDS.get((method, path)) or (Kind.OTHER if path.startswith(b"/api/") else Kind.ELSEWHERE)


def next_limit(limit: float, under_way: int, *, is_slow: bool, was_reached: bool) -> float:
    """How many may be under way from now on (pure)."""
    if is_slow:
        # What is under way above the limit was let in before: the limit need not fall for that.
        return max(FEWEST, limit * LESS) if under_way >= limit * LESS else limit
    if was_reached:
        return min(MOST, limit * MORE + 1)
    return limit + (FIRST - limit) * (MORE - 1) if limit < FIRST else limit


class Door:
    """In one process, on its event loop. `seconds`: how long what is let in should take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.lag = 0.0
        """How much later than it should the last tick came: what is read now has waited for about as long."""
        self._limit = float(FIRST)
        self._calm = 0.0
        """How long a request takes while few are under way."""
        self.under_way = 0
        """How many requests that were let in are not answered yet, by their weights."""
        self._of_kind = dict.fromkeys(PARTS, 0)
        self._let_in = self._turned_away = self._answered = self._slow = 0
        """Since the last tick."""
        self._refused = {kind: REFUSED.labels(kind.value) for kind in Kind}
        self._retry_after = 1.0
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        UNDER_WAY.set_function(lambda: self.under_way)
        LIMIT.set_function(lambda: self._limit)

    @property
    def threshold(self) -> float:
        """What takes longer than this is slow."""
        return max(self.seconds, 2 * self._calm)

    def open(self) -> None:
        """Begin to look at the time."""
        loop = asyncio.get_running_loop()
        self._due = loop.time() + TICK_SECONDS
        self._timer = loop.call_at(self._due, self._tick, loop)

    def close(self) -> None:
        """Stop looking."""
        if self._timer is not None:
            self._timer.cancel()

    def lets_in(self, kind: Kind) -> bool:
        """Whether a request of this kind may come in now."""
        if kind is Kind.POLL or kind is Kind.ELSEWHERE:
            return kind is Kind.ELSEWHERE or self.lag < STUCK_SECONDS
        part = REGISTERING_PART if kind is Kind.REGISTER else 1.0
        return self.under_way < self._limit * part or self._of_kind[kind] < self._limit * PARTS[kind]

    def turn_away(self, kind: Kind) -> int:
        """One more does not come in; when they may come back, in seconds."""
        self._turned_away += 1
        self._refused[kind].inc()
        return spread(self._retry_after)

    def refuse_late(self, kind: Kind) -> Refusal:
        """What somebody is told who came in and has waited for too long."""
        self._refused[kind].inc()
        return server_not_ready(TOO_BUSY, retry_after=self._retry_after)

    def enter(self, kind: Kind) -> None:
        """One more is under way."""
        self._let_in += 1
        self.under_way += REGISTER_WEIGHT if kind is Kind.REGISTER else 1
        self._of_kind[kind] += 1

    def leave(self, kind: Kind, seconds: float | None) -> None:
        """It is not any more, after so many seconds; None: it does not say how busy we are."""
        if seconds is not None:
            self._answered += 1
            if self.under_way <= CALM:
                self._calm += CALM_WEIGHT * (seconds - self._calm)
            elif seconds + self.lag > self.threshold:
                self._slow += 1
        self.under_way -= REGISTER_WEIGHT if kind is Kind.REGISTER else 1
        self._of_kind[kind] -= 1

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self.lag = max(0.0, now - self._due)
        self._due = now + TICK_SECONDS
        self._timer = loop.call_at(self._due, self._tick, loop)
        is_slow = self._slow > SLOW_PART * self._answered or self.lag > self.seconds
        self._limit = next_limit(self._limit, self.under_way, is_slow=is_slow, was_reached=self._turned_away > 0)
        # Three times as many as we can do: each comes back after three times as long.
        asked = self._let_in + self._turned_away
        self._retry_after = min(LATEST_SECONDS, asked / max(1, self._let_in))
        self._let_in = self._turned_away = self._answered = self._slow = 0


class Visit:
    """One request, from its last byte to the moment when its answer is known."""

    __slots__ = ("_began", "_came", "_door", "_is_over", "_kind")

    def __init__(self, door: Door, kind: Kind) -> None:
        self._door = door
        self._kind = kind
        self._began = self._came = 0.0
        self._is_over = False

    def begin(self) -> None:
        """It is complete: what it waits for from now on is us."""
        if not self._is_over and not self._began:
            self._began = time.monotonic()
            self._came = self._came or self._began
            self._door.enter(self._kind)

    def put_aside(self) -> None:
        """What it waits for is its caller's other requests, until it begins again."""
        if self._began and not self._is_over:
            self._door.leave(self._kind, None)
            self._began = 0.0

    def end(self, *, tells: bool = True) -> None:
        """Its answer is known, or nobody waits for it. `tells`: whether its time says how busy we are."""
        if self._began and not self._is_over:
            self._door.leave(self._kind, time.monotonic() - self._began if tells else None)
        self._is_over = True

    def check_patience(self) -> None:
        """Refuse what has waited for too long: its client may be gone, and others are still in time."""
        if self._is_over or not self._began:
            return
        if time.monotonic() - self._came > PATIENCE * self._door.threshold:
            raise self._door.refuse_late(self._kind)


visiting: ContextVar[Visit | None] = ContextVar("visiting", default=None)
"""The visit of the request that is being answered; set for each request."""


@contextmanager
def waiting_elsewhere() -> Iterator[None]:
    """Meanwhile the request waits for a server of others'. That one may be away, and would shut the door for everybody."""
    visit = visiting.get()
    if visit is None:
        yield
        return
    visit.put_aside()
    try:
        yield
    finally:
        visit.begin()
