"""Three NATS nodes, PostgreSQL with a standby, three web processes, two relays, two workers: whatever of it fails, what was
answered is stored once, every queue is whole and in order or dead, and people can go on.

The most telling faults; all of them, many times and with Patroni: bin/soak --cluster. How long people had to wait is printed:
on a machine that tests two things at once it says little, so the bounds here are wide.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.striking import strike
from tests.cluster.topology import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def cluster(shared_folder: Path) -> Iterator[Cluster]:
    """One for all these tests: each leaves it alive, and that is part of what they show."""
    with Cluster(shared_folder) as made:
        yield made


@pytest.mark.parametrize(
    "fault", ["kill-web", "kill-nats-leader", "lagging-replica", "split-relays", "kill-primary", "vanish-primary"]
)
def test_nothing_is_lost_doubled_or_reordered_by(cluster: Cluster, fault: str) -> None:
    outage = strike(cluster, fault)
    assert max(outage) < 60
