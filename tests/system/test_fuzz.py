"""Requests generated from our own API description, as every role (the short versions of bin/fuzz)."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.environments import Missing, programs_of_schemathesis
from tests.fuzz.requests_run import Flood
from tests.fuzz.schemathesis_run import Fuzz, Outcome, findings
from tests.fuzz.world import ROLES
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.finding]

ASKED_BY_SCHEMATHESIS = ("owner", "guest", "anonymous")
"""Its own work takes a core for half a minute a role: bin/fuzz asks as all of them, and the flood below does so here."""
EXAMPLES = 1
REQUESTS_PER_ROLE = 500
SEED = int(os.environ.get("TERTULIA_SEED", "1"))


@pytest.fixture(scope="module")
def outcomes(server: Server, shared_folder: Path) -> Iterator[dict[str, Outcome]]:
    """What each of them found, all at once: most of the time is Schemathesis' own."""
    try:
        programs_of_schemathesis()
    except Missing as reason:
        pytest.skip(str(reason))
    backstage = Backstage(server)
    stage = Stage(server, backstage)
    try:
        yield Fuzz(server, stage, shared_folder).run(ASKED_BY_SCHEMATHESIS, EXAMPLES, SEED)
    finally:
        stage.close()
        backstage.close()


@pytest.mark.timeout(900, func_only=False)
@pytest.mark.parametrize("role", ASKED_BY_SCHEMATHESIS)
def test_whatever_is_asked_is_answered_as_described(outcomes: dict[str, Outcome], role: str) -> None:
    outcome = outcomes[role]
    assert outcome.is_good, findings(outcome.text)
    assert outcome.requests > 100, outcome.text[-3000:]
    assert not [status for status in outcome.statuses if status.startswith("5")], outcome.statuses


def test_generated_requests_reach_something(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["owner"].statuses["200"] > 40
    assert outcomes["owner"].statuses["200"] > outcomes["owner"].statuses.get("401", 0)


def test_a_flood_of_generated_requests_is_answered_as_described(server: Server) -> None:
    with closing(Backstage(server)) as backstage:
        flood = Flood(server, backstage)
        flood.round(SEED, REQUESTS_PER_ROLE)
    assert not flood.findings, "\n\n".join(flood.findings.values())
    assert flood.statuses.total() > REQUESTS_PER_ROLE * len(ROLES) * 0.9
    assert flood.statuses[200] > flood.statuses.total() * 0.15
    assert len(flood.operations) > 150
