"""Rate limits as pure arithmetic."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.kernel import limits
from tertulia.kernel.limits import LocalBudgets, Rate, network_of, parse_rates, spend
from tertulia.kernel.settings import SettingsError


def test_a_full_budget_allows_a_burst_of_its_size_and_no_more() -> None:
    rate, full_at = Rate(5, 60.0), 0.0
    remaining = []
    for _ in range(5):
        outcome = spend(full_at, 1000.0, rate)
        assert not outcome.retry_after
        remaining.append(outcome.remaining)
        full_at = outcome.full_at
    assert remaining == [4, 3, 2, 1, 0]
    assert spend(full_at, 1000.0, rate).retry_after == pytest.approx(12.0)


def test_a_refused_call_spends_nothing() -> None:
    rate = Rate(1, 10.0)
    full_at = spend(0.0, 1000.0, rate).full_at
    refused = spend(full_at, 1001.0, rate)
    assert refused.retry_after == pytest.approx(9.0)
    assert refused.full_at == full_at
    assert not spend(full_at, 1010.0, rate).retry_after


@given(st.integers(1, 50), st.integers(1, 100), st.lists(st.floats(0, 30), min_size=1, max_size=200))
def test_no_window_sees_more_than_the_burst_and_what_is_refilled_meanwhile(
    count: int, seconds: int, gaps: list[float]
) -> None:
    rate, now, full_at = Rate(count, float(seconds)), 1000.0, 0.0
    allowed: list[float] = []
    for gap in gaps:
        now += gap
        outcome = spend(full_at, now, rate)
        if outcome.retry_after:
            assert not spend(full_at, now + outcome.retry_after + 1e-6, rate).retry_after
        else:
            full_at = outcome.full_at
            allowed.append(now)
    for first in range(len(allowed)):
        for last in range(first, len(allowed)):
            span = allowed[last] - allowed[first]
            assert last - first + 1 <= count + span * count / seconds + 1e-6


def test_rates_are_written_as_calls_and_seconds() -> None:
    assert parse_rates("200/60") == (Rate(200, 60.0),)
    assert parse_rates("2/3600,5/86400") == (Rate(2, 3600.0), Rate(5, 86400.0))
    for wrong in ("200", "a/b", "0/60", "5/0"):
        with pytest.raises(SettingsError):
            parse_rates(wrong)


def test_an_ipv6_caller_is_its_network_and_an_ipv4_caller_its_address() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
    assert network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert network_of("192.0.2.7") == "192.0.2.7"
    assert network_of("") == ""


def test_budgets_take_no_more_room_than_that_however_slowly_they_fill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_KEYS", 100)
    budgets, slow = LocalBudgets(), Rate(3, 86400)

    async def spend_many() -> None:
        await budgets.take("mail", "used up", slow)
        await budgets.take("mail", "used up", slow)
        for number in range(1000):
            await budgets.take("mail", str(number), slow)
        # Who has used more than others is remembered.
        assert (await budgets.take("mail", "used up", slow)).remaining == 0

    asyncio.run(spend_many())
    assert len(budgets._full_at) <= 100


def test_nobody_is_refused_because_the_clock_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a machine began with a clock that was ahead: each call would wait until that time comes again."""
    budgets, rate, told = LocalBudgets(), Rate(3, 60), []
    for moment in (1_000_000.0, 2_000_000.0, 1_000_000.0):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        told.append(asyncio.run(budgets.take("user", "1", rate)))
    assert [(one.remaining, one.retry_after) for one in told] == [(2, 0.0), (1, 0.0), (0, 0.0)]
    assert [one.full_at for one in told] == [pytest.approx(at, abs=5) for at in (1_000_020, 2_000_040, 1_000_060)], (
        "what is told is by the clock on the wall"
    )
    assert asyncio.run(budgets.take("user", "1", rate)).retry_after == pytest.approx(20, abs=5)
