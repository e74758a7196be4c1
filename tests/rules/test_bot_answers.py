"""How often the bots of one owner answer."""

import pytest

from tertulia.integrations.outgoing.calls import Answers
from tertulia.kernel.settings import Settings


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("tertulia.kernel.limits.time.monotonic", lambda: now[0])
    return now


def test_bots_of_one_owner_answer_as_often_as_bots_may_call(clock: list[float]) -> None:
    answers = Answers(Settings(bots_rate="60/60"))
    for _ in range(61):
        answers.spend(1)
    answers.spend(2)
    assert answers.waiting() == [1]
    clock[0] += 2
    assert answers.waiting() == []


def test_without_rates_they_answer_at_any_time() -> None:
    answers = Answers(Settings(bots_rate="1/60", rate_limits=False))
    for _ in range(10):
        answers.spend(1)
    assert answers.waiting() == []
