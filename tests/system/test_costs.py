"""No long text for any parameter keeps the server busy for long (the short version of `bin/fuzz costs`)."""

from contextlib import closing

import pytest

from tests.fuzz.costs_run import Costs
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage

pytestmark = [pytest.mark.system, pytest.mark.slow]

CHARACTERS = 60_000
KINDS = ("letters with a selector", "marks in disorder", "the place of a fault")
MOST_SECONDS = 2.0
"""What grows with the square of the length takes far longer. A password takes some tenths, in a thread of its own."""


@pytest.mark.timeout(600)
def test_a_long_text_for_any_parameter_is_soon_answered(server: Server) -> None:
    if not isinstance(server, OwnServer):
        pytest.skip("the processor time can be seen only where the server runs")
    with closing(Backstage(server)) as backstage:
        costs = Costs(server, backstage)
        dear = [cost for cost in costs.dear(CHARACTERS, KINDS, in_turn=True) if cost.seconds > MOST_SECONDS]
    assert dear == []
    assert costs.count > 700
