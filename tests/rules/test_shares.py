"""A person's share of the connections: who waits for whom."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from tertulia.kernel.audit import request_under_way
from tertulia.kernel.call import Call
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.postgres import Limits
from tertulia.kernel.shares import FREE_SECONDS, SLOW_SECONDS, Share, Shares
from tertulia.kernel.turns import telling_turns

POOL, OF_ONE, WRITING_OF_ONE = 10, 3, 2
LIMITS = Limits(pool=0.05, statement=0.5)


async def nothing_comes() -> Any:
    raise AssertionError("nothing is read")


def call_of(payer: str) -> Call:
    call = Call({"headers": [], "client": ("192.0.2.1", 1)}, nothing_comes)
    call.payer = payer
    return call


async def take(shares: Shares, call: Call, *, writes: bool = False) -> Share:
    with request_under_way(call, None):
        return await shares.take(writes=writes)


@pytest.fixture
def shares() -> Shares:
    return Shares(POOL, LIMITS, of_persons=True)


async def test_one_person_has_a_third_and_waits_for_their_own_while_others_do_not(shares: Shares) -> None:
    own = [await take(shares, call_of("person 1")) for _ in range(OF_ONE)]
    waiting = asyncio.create_task(take(shares, call_of("person 1")))
    await asyncio.sleep(0)
    for payer in ("person 2", "192.0.2.1"):
        await asyncio.wait_for(take(shares, call_of(payer)), 0.1)
    assert not waiting.done()
    shares.give_back(own[0])
    await waiting


async def test_who_writes_can_still_read(shares: Shares) -> None:
    for _ in range(WRITING_OF_ONE):
        await take(shares, call_of("person 1"), writes=True)
    waiting = asyncio.create_task(take(shares, call_of("person 1"), writes=True))
    await asyncio.sleep(0)
    await asyncio.wait_for(take(shares, call_of("person 1")), 0.1)
    waiting.cancel()


async def test_who_waits_for_their_own_takes_no_writers_place_from_others(shares: Shares) -> None:
    readers = [await take(shares, call_of("person 1")) for _ in range(OF_ONE)]
    waiting = [asyncio.create_task(take(shares, call_of("person 1"), writes=True)) for _ in range(5)]
    await asyncio.sleep(0)
    for number in range(POOL - POOL // 3):
        await take(shares, call_of(f"other {number}"), writes=True)
    assert not any(one.done() for one in waiting)
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    for share in readers:
        shares.give_back(share)
    assert (await take(shares, call_of("person 1"))).payer == "person 1"


async def test_nobody_waits_for_ever(shares: Shares) -> None:
    for _ in range(OF_ONE):
        await take(shares, call_of("person 1"))
    with pytest.raises(TimeoutError):
        await take(shares, call_of("person 1"))


async def test_if_the_writers_have_no_place_left_nothing_is_kept(shares: Shares) -> None:
    others = [await take(shares, call_of(f"other {number}"), writes=True) for number in range(POOL - POOL // 3)]
    for _ in range(OF_ONE + 1):
        with pytest.raises(TimeoutError):
            await take(shares, call_of("person 1"), writes=True)
    shares.give_back(others[0])
    await asyncio.wait_for(take(shares, call_of("person 1"), writes=True), 0.1)


async def test_a_request_with_a_connection_gets_another_one_at_once(shares: Shares) -> None:
    calls = [call_of("person 1") for _ in range(OF_ONE)]
    first = [await take(shares, call) for call in calls]
    second = [await asyncio.wait_for(take(shares, call, writes=True), 0.1) for call in calls]
    for share in (*first, *second):
        shares.give_back(share)
    assert [call.connections for call in calls] == [0] * OF_ONE


async def test_what_is_read_for_many_at_once_is_nobodys(shares: Shares) -> None:
    async def read(keys: Sequence[int]) -> dict[int, Share]:
        return dict.fromkeys(keys, await shares.take(writes=False))

    coalescer: Coalescer[int, Share] = Coalescer(read)
    with request_under_way(call_of("person 1"), None):
        share = await coalescer.load(7)
    assert share is not None
    assert share.call is None


async def keep(shares: Shares, call: Call, *, writes: bool = False, blocked: bool = False) -> None:
    """Have a connection for longer than is free."""
    share = await take(shares, call, writes=writes)
    shares.begin(share)
    if blocked:

        async def block() -> None:
            time.sleep(FREE_SECONDS * 2)

        await telling_turns(block(), lambda _: None)
    else:
        await asyncio.sleep(FREE_SECONDS * 2)
    shares.give_back(share)


async def test_who_keeps_a_connection_for_long_to_read_pays(shares: Shares) -> None:
    await keep(shares, call := call_of("person 1"))
    assert FREE_SECONDS * 0.9 < call.database_seconds < FREE_SECONDS * 8


async def test_who_keeps_it_for_a_moment_does_not(shares: Shares) -> None:
    share = await take(shares, call := call_of("person 1"))
    shares.begin(share)
    shares.give_back(share)
    assert call.database_seconds == 0


async def test_who_writes_may_have_waited_for_others(shares: Shares) -> None:
    await keep(shares, call := call_of("person 1"), writes=True)
    assert call.database_seconds == 0


async def test_the_time_in_which_somebody_kept_the_event_loop_is_not_the_databases(shares: Shares) -> None:
    await keep(shares, call := call_of("person 1"), blocked=True)
    assert call.database_seconds < FREE_SECONDS


async def test_what_people_have_beside_their_first_one_is_a_third_together(shares: Shares) -> None:
    taking = [asyncio.create_task(take(shares, call_of(f"person {number % 4}"))) for number in range(4 * OF_ONE)]
    await asyncio.sleep(0.01)
    taken = [one.result() for one in taking if one.done()]
    assert len(taken) == 4 + POOL // 3
    await asyncio.wait_for(take(shares, call_of("person 9")), 0.1)
    for share in taken[4:]:
        shares.give_back(share)
    await asyncio.sleep(0.01)
    assert sum(one.done() for one in taking) == 4 + 2 * (POOL // 3)
    for one in taking:
        one.cancel()


async def test_the_slow_leave_a_third_to_others_until_time_has_made_up_for_it(
    shares: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [f"person {number}" for number in range(4)]
    for payer in people:
        share = await take(shares, call := call_of(payer))
        call.database_seconds += SLOW_SECONDS + 1
        shares.give_back(share)
    taking = [asyncio.create_task(take(shares, call_of(payer))) for payer in people for _ in range(OF_ONE)]
    await asyncio.sleep(0.01)
    taken = [one.result() for one in taking if one.done()]
    assert len(taken) == POOL - POOL // 3
    for _ in range(2):  # a first one, and another
        await asyncio.wait_for(take(shares, call_of("quick")), 0.1)
    shares.give_back(taken[0])
    await asyncio.sleep(0.01)
    assert sum(one.done() for one in taking) == len(taken) + 1
    for one in taking:
        one.cancel()
    later = time.monotonic() + 60
    monkeypatch.setattr(time, "monotonic", lambda: later)
    for share in taken[1:]:
        shares.give_back(share)
    assert (await take(shares, call_of(people[0]))).shared is None


async def test_without_limits_nobody_has_a_share() -> None:
    shares = Shares(POOL, LIMITS, of_persons=False)
    for _ in range(POOL):
        await asyncio.wait_for(take(shares, call_of("person 1")), 0.1)
