"""Rate limits: how often somebody may call.

A budget is a burst of `calls`, refilled evenly over `seconds` (the generic cell rate algorithm: one number per key, the
time at which the budget is full again). It is kept in this process, or, exact across nodes, in Redis when a URL is set.
A refused request spends nothing. While Redis is away or silent, each process limits by itself: limits protect the service, and
must neither end it nor end with it.
"""

import asyncio
import ipaddress
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

import structlog
from prometheus_client import Counter

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings, SettingsError

log = structlog.get_logger()
K = TypeVar("K")
REFUSED = Counter("tertulia_rate_limited", "Requests refused because a budget was used up", ["budget"])

MAX_KEYS = 100_000
"""After so many keys half of them are forgotten: those whose budgets are full, or nearest to it. A full budget is like none."""

REDIS_SECONDS = 0.5
"""How long Redis has for an answer: everybody waits for it with every call."""
AWAY_SECONDS = 5.0
"""How long it is not asked after that."""
TOO_OFTEN = 429
"""The status of `too_often`."""


class Rate(NamedTuple):
    """A budget: so many calls in so many seconds."""

    calls: int
    seconds: float


class Outcome(NamedTuple):
    """What became of a call: `retry_after` is 0 if it was allowed."""

    remaining: int
    full_at: float
    """By the clock on the wall, where somebody is told of it."""
    retry_after: float


class Budgets(Protocol):
    """Where budgets are kept."""

    async def take(self, bucket: str, key: str, rate: Rate, *, only_looks: bool = False) -> Outcome:
        """Spend one call of a budget, if there is one left; or say what would become of such a call."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class LocalBudgets:
    """Budgets of this process, by a clock that nobody sets: set back by an hour, the other one would refuse everybody for one."""

    def __init__(self) -> None:
        self._full_at: dict[tuple[str, str], float] = {}
        """By `monotonic`."""

    async def take(self, bucket: str, key: str, rate: Rate, *, only_looks: bool = False) -> Outcome:
        """Spend one call of a budget, if there is one left; or say what would become of such a call."""
        now = time.monotonic()
        outcome = spend(self._full_at.get((bucket, key), 0.0), now, rate)
        if not outcome.retry_after and not only_looks:
            if len(self._full_at) >= MAX_KEYS:
                self._full_at = least_full(self._full_at, now, MAX_KEYS // 2)
            self._full_at[bucket, key] = outcome.full_at
        return outcome._replace(full_at=outcome.full_at - now + time.time())

    async def close(self) -> None:
        """Nothing to let go of."""


def least_full(full_at: Mapping[K, float], now: float, most: int) -> dict[K, float]:
    """At most so many budgets, by when they are full: those that are not, the emptiest of them (pure).

    Keep half of what there is room for: then this is done seldom, also where none is full.
    """
    latest = sorted(full_at.items(), key=lambda item: item[1])[-most:]
    return {key: at for key, at in latest if at > now}


def spend(full_at: float, now: float, rate: Rate) -> Outcome:
    """One call at the time `now` of a budget that is full again at `full_at` (pure)."""
    price = rate.seconds / rate.calls
    full_at = max(full_at, now)
    after = full_at + price
    excess = after - now - rate.seconds
    if excess > 1e-9:
        return Outcome(0, full_at, excess)
    return Outcome(int((now + rate.seconds - after) / price + 1e-9), after, 0.0)


class TimeBudgets:
    """Time of something that everybody needs, for each who uses it, in this process.

    Somebody new has a burst; what they use comes back by a share of all time. They may use more than they have, once.
    """

    def __init__(self, burst_seconds: float, share: float) -> None:
        self._burst = burst_seconds
        self._share = share
        self._full_at: dict[str, float] = {}

    def left(self, key: str) -> float:
        """The seconds that they have; below zero if they used more."""
        return self._burst - max(0.0, self._full_at.get(key, 0.0) - time.monotonic()) * self._share

    def wait(self, key: str) -> float:
        """The seconds until they have some again; 0 if they have."""
        return max(0.0, -self.left(key) / self._share) if key in self._full_at else 0.0

    def spend(self, key: str, seconds: float) -> None:
        """They have used so many."""
        now = time.monotonic()
        if len(self._full_at) >= MAX_KEYS:
            self._full_at = least_full(self._full_at, now, MAX_KEYS // 2)
        self._full_at[key] = max(self._full_at.get(key, 0.0), now) + seconds / self._share


class KnownDebts(TimeBudgets):
    """Such budgets, of which can be told who has to wait, without asking for each."""

    def __init__(self, burst_seconds: float, share: float) -> None:
        super().__init__(burst_seconds, share)
        self._spent: set[str] = set()

    def spend(self, key: str, seconds: float) -> None:
        """They have used so many."""
        super().spend(key, seconds)
        if self.wait(key):
            self._spent.add(key)

    def waiting(self) -> set[str]:
        """Who has nothing left for now."""
        self._spent = set(filter(self.wait, self._spent))
        return self._spent


class RedisBudgets:
    """Budgets shared by all nodes, by the `limits` library (extra `redis`): a moving window in one script call.

    A Redis that does not answer at once is not asked again for a while, and then by one request alone: what it costs to learn
    that it is still away, everybody else does not wait for.
    """

    def __init__(self, url: str) -> None:
        try:
            from limits.aio.storage import RedisStorage
            from limits.aio.strategies import MovingWindowRateLimiter
        except ImportError as error:
            raise SettingsError("redis_url needs the extra: pip install 'tertulia[redis]'") from error
        patience: Any = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
        self._storage: Any = RedisStorage(f"async+{url}", implementation="redispy", key_prefix="tertulia", **patience)
        self._strategy: Any = MovingWindowRateLimiter(self._storage)
        self._own = LocalBudgets()
        self._ask_again = 0.0
        """When Redis is asked again, by `monotonic`; 0: it answers."""

    async def take(self, bucket: str, key: str, rate: Rate, *, only_looks: bool = False) -> Outcome:
        """Spend one call of a budget, if there is one left; or say what would become of such a call."""
        now = time.monotonic()
        if now < self._ask_again:
            return await self._own.take(bucket, key, rate, only_looks=only_looks)
        if self._ask_again:
            self._ask_again = now + AWAY_SECONDS
        try:
            outcome = await self._ask(bucket, key, rate, only_looks=only_looks)
        except Exception as error:
            if not self._ask_again:
                log.warning("Redis is away: each process limits by itself", error=repr(error))
            self._ask_again = time.monotonic() + AWAY_SECONDS
            return await self._own.take(bucket, key, rate, only_looks=only_looks)
        if self._ask_again:
            log.info("Redis is back")
            self._ask_again = 0.0
        return outcome

    async def _ask(self, bucket: str, key: str, rate: Rate, *, only_looks: bool) -> Outcome:
        from limits import RateLimitItemPerSecond

        item = RateLimitItemPerSecond(rate.calls, int(rate.seconds), namespace=bucket)
        async with asyncio.timeout(2 * REDIS_SECONDS):
            allowed = await (self._strategy.test if only_looks else self._strategy.hit)(item, key)
            stats = await self._strategy.get_window_stats(item, key)
        return Outcome(stats.remaining, stats.reset_time, 0.0 if allowed else max(0.01, stats.reset_time - time.time()))

    async def close(self) -> None:
        """Close the connections."""
        await self._storage.storage.aclose()


_HEADERS = (b"x-ratelimit-limit", b"x-ratelimit-remaining", b"x-ratelimit-reset")


class RateLimits:
    """Decides for each request of the API."""

    def __init__(self, settings: Settings, budgets: Budgets) -> None:
        self._budgets = budgets
        self._user = parse_rates(settings.user_rate)
        self._bots = parse_rates(settings.bots_rate)
        self._address = parse_rates(settings.address_rate)
        self._files = parse_rates(settings.file_rate)
        # A page shows hundreds of pictures: none is worth a question to Redis.
        self._file_budgets = LocalBudgets()
        self._kinds = {"mail": parse_rates(settings.client_mail_rate)}
        self._mail = parse_rates(settings.mail_rate)
        self._realm_mail = parse_rates(settings.realm_mail_rate)

    async def check(self, call: Call, caller: Caller | None) -> None:
        """Spend what this request costs; a Refusal if the budget is used up."""
        if caller is not None:
            if caller.owner_id is not None:  # or each bot would be another budget of the same person
                await self._spend(call, "bots", str(caller.owner_id), self._bots)
            await self._spend(call, "user", str(caller.user_id), self._user)
        else:
            await self._spend(call, "address", network_of(call.peer), self._address)

    async def check_kind(self, call: Call, kind: str) -> None:
        """Spend what a kind of calls costs beside that, such as those that send mails."""
        await self._spend(call, kind, network_of(call.peer), self._kinds[kind])

    async def check_files(self, caller: Caller) -> None:
        """Spend what a call for a file costs: of a person with their bots, in this process. The answer does not speak of it."""
        for rate in self._files:
            outcome = await self._file_budgets.take(_name_of("files", rate.seconds), str(caller.person_id), rate)
            if outcome.retry_after:
                REFUSED.labels("files").inc()
                raise too_often(outcome.retry_after)

    async def spend(self, call: Call, bucket: str, key: str, rates: Sequence[Rate]) -> None:
        """Spend a budget of a feature's own, such as mails to one address."""
        await self._spend(call, bucket, key, rates)

    async def spend_mail(
        self, call: Call, purpose: str, realm_id: int, recipient: str, *, is_sent: bool = True
    ) -> None:
        """Spend one mail that a stranger asks for: nobody is rained on, and no organization becomes a source of spam.

        What is not sent takes nothing from the organization, or strangers would use up the mails of its people with addresses
        that nobody has. The answer does not tell the two apart: where the organization has none left, both are refused.
        """
        await self._spend(call, purpose, f"{realm_id}:{recipient}", self._mail)
        told = call.reply_headers
        await self._spend(call, "realm-mail", str(realm_id), self._realm_mail, only_looks=not is_sent)
        call.reply_headers = told

    async def _spend(
        self, call: Call, bucket: str, key: str, rates: Sequence[Rate], *, only_looks: bool = False
    ) -> None:
        for rate in rates:
            outcome = await self._budgets.take(_name_of(bucket, rate.seconds), key, rate, only_looks=only_looks)
            if call.reply_headers:
                call.reply_headers = [header for header in call.reply_headers if header[0] not in _HEADERS]
            told = (rate.calls, outcome.remaining, int(outcome.full_at + 0.999))
            call.reply_headers += zip(_HEADERS, [b"%d" % number for number in told], strict=True)
            if outcome.retry_after:
                REFUSED.labels(bucket).inc()
                raise too_often(outcome.retry_after)


@lru_cache(maxsize=256)
def _name_of(bucket: str, seconds: float) -> str:
    """Of the budget for so many seconds."""
    return f"{bucket}-{seconds:g}"


def too_often(retry_after: float) -> Refusal:
    """The refusal of a used up budget. The key with the hyphen is what existing clients read."""
    seconds = round(retry_after, 3)
    return Refusal(
        "You are calling too often. Please wait a moment.",
        code="RATE_LIMIT_HIT",
        status=TOO_OFTEN,
        headers={"Retry-After": str(seconds)},
        **{"retry-after": seconds},
    )


def parse_rates(text: str) -> tuple[Rate, ...]:
    """`200/60` is 200 calls in 60 seconds; several with commas between them hold together."""
    try:
        pairs = [part.split("/") for part in text.split(",") if part.strip()]
        rates = tuple(Rate(int(count), float(seconds)) for count, seconds in pairs)
    except ValueError as error:
        raise SettingsError(f"{text!r} is not a rate: write 200/60 for 200 calls in 60 seconds") from error
    if any(rate.calls < 1 or rate.seconds < 1 for rate in rates):
        raise SettingsError(f"{text!r}: a rate has at least one call and one second")
    return rates


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """What counts as one caller: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address
