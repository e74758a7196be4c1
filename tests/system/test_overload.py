"""Far more than the server can do, in short: what is let in is kept, and the rest is told to come back."""

import pytest

from bench.stage import open_stage
from tests.system.overload import Plan, as_people_have_it, live_through

pytestmark = pytest.mark.system

SHORT = Plan(seconds=3.0, calm=1.0, measured=1.0, people=100, channels=2, connections=600, listeners=3, times=8.0)


def test_what_is_too_much_is_refused_with_a_time_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are not looked at: the machine may have other things to do. `bin/soak --overload --strict` does."""
    for rate in ("USER_RATE", "ADDRESS_RATE"):
        monkeypatch.setenv(f"TERTULIA_{rate}", "1000000/1")
    with open_stage(**as_people_have_it()) as stage:
        outcome = live_through(stage, SHORT)
    assert outcome.violations() == []
    assert outcome.story.acknowledged
    assert any(one.status == 503 for one in outcome.story.answers)
