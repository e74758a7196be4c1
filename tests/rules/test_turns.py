"""Who keeps the event loop to themselves pays for it, whatever it was that took so long."""

import asyncio
import sys
import time
from collections.abc import MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from tertulia.kernel import admission as admissions
from tertulia.kernel.admission import EVENT_SECONDS, FEW_EVENTS, Admission
from tertulia.kernel.auth import Person
from tertulia.kernel.call import Call
from tertulia.kernel.endpoint import collect, get
from tertulia.kernel.http import Api
from tertulia.kernel.limits import Budgets, LocalBudgets, RateLimits, TimeBudgets
from tertulia.kernel.settings import Settings
from tertulia.kernel.turns import FREE_SECONDS, telling_turns

ANN, BOT_OF_ANN, BEN = (7, None), (8, 7), (9, None)


async def test_what_turns_take_beyond_what_is_free_is_told_and_waiting_is_not() -> None:
    told: list[float] = []

    async def work() -> str:
        await asyncio.sleep(FREE_SECONDS * 2)
        time.sleep(FREE_SECONDS * 2)
        assert told == []
        await asyncio.sleep(0)
        assert told[0] >= FREE_SECONDS
        return "done"

    assert await telling_turns(work(), told.append) == "done"
    assert FREE_SECONDS <= sum(told) < FREE_SECONDS * 4


async def test_many_short_turns_are_added_up() -> None:
    told: list[float] = []

    async def work() -> None:
        for _ in range(20):
            time.sleep(FREE_SECONDS / 5)
            await asyncio.sleep(0)

    await telling_turns(work(), told.append)
    assert sum(told) >= FREE_SECONDS * 3


async def test_a_short_request_is_free() -> None:
    told: list[float] = []
    await telling_turns(asyncio.sleep(FREE_SECONDS * 2), told.append)
    assert told == []


async def test_what_is_thrown_into_the_work_arrives_there_and_what_it_raises_comes_out() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            time.sleep(FREE_SECONDS * 4)
            raise LookupError("on the way out") from None

    async def outer() -> None:
        await telling_turns(work(), lambda _: seen.append("told"))

    task = asyncio.create_task(outer())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(LookupError, match="on the way out"):
        await task
    assert seen == ["cancelled", "told"]


def test_used_time_comes_back_by_its_share() -> None:
    budgets = TimeBudgets(1.0, 0.5)
    assert (budgets.left("ann"), budgets.wait("ann")) == (1.0, 0.0)
    budgets.spend("ann", 3.0)
    assert -2.0 <= budgets.left("ann") < -1.9
    assert 3.8 < budgets.wait("ann") <= 4.0
    assert budgets.left("ben") == 1.0


@get("/slow")
async def slow(caller: Person) -> None:
    """Take long."""
    time.sleep(FREE_SECONDS * 4)


@get("/telling")
async def telling(caller: Person, call: Call) -> None:
    """Write very many events."""
    call.events = FEW_EVENTS + int(2 * FREE_SECONDS / EVENT_SECONDS)


@get("/telling_little")
async def telling_little(caller: Person, call: Call) -> None:
    """Write some events."""
    call.events = FEW_EVENTS


@get("/searching")
async def searching(caller: Person, call: Call) -> None:
    """Make the database work for long."""
    call.database_seconds = 2 * FREE_SECONDS


@get("/quick")
async def quick(caller: Person) -> None:
    """Take no time."""


@get("/slow_for_anybody")
async def slow_for_anybody() -> None:
    """Take long, without knowing for whom."""
    time.sleep(FREE_SECONDS * 4)


class _Known:
    """Believes who it is that a header names."""

    async def authenticate(self, call: Call, kind: type[Any], optional: bool) -> Any:
        user_id, owner_id = map(int, (call.header("authorization") or "").split())
        return kind(user_id, 1, 1, "", "", 400, None, "", "", b"{}", owner_id=owner_id or None)


async def ask(
    api: Api,
    path: str,
    who: tuple[int, int | None] = ANN,
    peer: str = "203.0.113.7",
    body_comes: asyncio.Event | None = None,
) -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        if body_comes is not None:
            await body_comes.wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"authorization", f"{who[0]} {who[1] or 0}".encode()), (b"host", b"localhost")]
    if body_comes is not None:
        headers.append((b"transfer-encoding", b"chunked"))
    scope = {
        "type": "http", "method": "GET", "path": f"/api/v1{path}", "query_string": b"", "headers": headers,
        "client": (peer, 1),
    }  # fmt: skip
    await api(scope, receive, send)
    return statuses[0]


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    monkeypatch.setattr(admissions, "BURST_SECONDS", FREE_SECONDS)
    monkeypatch.setattr(admissions, "DATABASE_BURST_SECONDS", FREE_SECONDS)
    budgets: Budgets = LocalBudgets()
    limits = RateLimits(Settings(), budgets)
    return Api(collect(sys.modules[__name__]), admission=Admission(_Known(), limits))


async def test_who_took_long_is_refused_until_their_share_is_back_and_nobody_else(api: Api) -> None:
    assert await ask(api, "/slow") == 200
    assert await ask(api, "/quick") == 429
    assert await ask(api, "/quick", BOT_OF_ANN) == 429
    assert await ask(api, "/quick", BEN) == 200


async def test_who_reaches_a_limit_is_logged_once_in_a_while(api: Api) -> None:
    with capture_logs() as logs:
        await ask(api, "/slow")
        assert [await ask(api, "/quick") for _ in range(3)] == [429] * 3
        assert [await ask(api, "/slow_for_anybody") for _ in range(3)] == [200, 429, 429]
    told = [(entry["log_level"], entry["by"]) for entry in logs if entry["event"] == "a limit was reached"]
    assert told == [("warning", "person 7"), ("warning", "203.0.113.7")]


async def test_what_a_bot_took_counts_for_its_owner(api: Api) -> None:
    assert await ask(api, "/slow", BOT_OF_ANN) == 200
    assert await ask(api, "/quick", ANN) == 429


async def test_what_many_events_cost_after_a_request_is_its_callers(api: Api) -> None:
    assert await ask(api, "/telling") == 200
    assert await ask(api, "/quick") == 429
    assert await ask(api, "/quick", BEN) == 200


async def test_what_the_database_works_for_long_is_its_callers(api: Api) -> None:
    assert await ask(api, "/searching", BOT_OF_ANN) == 200
    assert await ask(api, "/quick") == 429
    assert await ask(api, "/quick", BEN) == 200


async def test_a_few_events_cost_nothing(api: Api) -> None:
    for _ in range(3):
        assert await ask(api, "/telling_little") == 200
    assert await ask(api, "/quick") == 200


async def test_who_is_let_in_many_times_before_paying_is_looked_at_again_when_the_bodies_come(api: Api) -> None:
    come = asyncio.Event()
    asked = [asyncio.create_task(ask(api, "/slow", body_comes=come)) for _ in range(5)]
    await asyncio.sleep(0.01)
    come.set()
    assert sorted([await one for one in asked]) == [200, 429, 429, 429, 429]


async def test_of_nobody_the_network_pays(api: Api) -> None:
    assert await ask(api, "/slow_for_anybody") == 200
    assert await ask(api, "/slow_for_anybody") == 429
    assert await ask(api, "/slow_for_anybody", peer="203.0.113.8") == 200
    assert await ask(api, "/quick", ANN) == 200


async def test_without_limits_nobody_pays() -> None:
    api = Api(collect(sys.modules[__name__]), admission=Admission(_Known()))
    for _ in range(3):
        assert await ask(api, "/slow") == 200
    assert await ask(api, "/quick") == 200
