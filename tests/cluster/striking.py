"""One fault while people are at work, for tests; many of them: soak.py."""

import random

from tests.cluster.faults import FAULTS, Scene
from tests.cluster.load import Load, Outage
from tests.cluster.topology import Cluster

SEED = 15


def strike(cluster: Cluster, fault: str) -> Outage:
    """Let it happen while people are at work; they check everything in the end."""
    with Load(cluster, SEED) as load:
        load.progress(10)
        scene = Scene(cluster, load, random.Random(SEED))
        FAULTS[fault](scene)
        outage = scene.outage()
        print(f"{fault}: {outage}; {load.people.dead_queues} queues died")
        cluster.mend()
    return outage
