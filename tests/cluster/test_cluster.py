"""Three NATS nodes, PostgreSQL with a standby, three web processes, two relays, two workers: whatever of it fails, what was
answered is stored once, every queue is whole and in order or dead, and people can go on.

The most telling faults; all of them, many times and with Patroni: bin/soak --cluster. How long people had to wait is printed:
on a machine that tests two things at once it says little, so the bounds here are wide.
"""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.environments import Missing
from tests.cluster.faults import FAULTS, Scene
from tests.cluster.load import Load, Outage
from tests.cluster.topology import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.timeout(300)]

SEED = 15


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


def test_nothing_is_lost_doubled_or_reordered_when_patroni_replaces_a_machine_that_died(shared_folder: Path) -> None:
    if shutil.which("etcd") is None:
        pytest.skip("etcd is missing: apt-get install etcd-server")
    folder = shared_folder / "patroni"
    folder.mkdir()
    try:
        cluster = Cluster(folder, patroni=True)
    except Missing as error:
        pytest.skip(str(error))
    with cluster:
        assert max(strike(cluster, "patroni-kill-machine")) < 90


def strike(cluster: Cluster, fault: str) -> Outage:
    """Let it happen while people are at work; they check everything in the end."""
    with Load(cluster, SEED) as load:
        load.progress(10)
        scene = Scene(cluster, load, random.Random(SEED))
        FAULTS[fault](scene)
        load.progress(15, 120)
        outage = load.outage(scene.began)
        print(f"{fault}: {outage}; {load.people.dead_queues} queues died")
        cluster.mend()
    return outage
