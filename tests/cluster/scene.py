"""What a fault is given: the cluster, who is at work in it, and a clock."""

import random
import time
from dataclasses import dataclass, field

from tests.cluster.load import Load, Outage
from tests.cluster.nats_node import NatsNode
from tests.cluster.topology import Cluster, Member


class NotHere(Exception):
    """This fault cannot be made on this cluster or machine; the text says why."""


@dataclass
class Scene:
    cluster: Cluster
    load: Load
    chance: random.Random
    began: float = field(default_factory=time.monotonic)
    _outage: Outage | None = None

    def begin(self) -> None:
        """Now it strikes."""
        self.began = time.monotonic()

    def end(self) -> None:
        """It is over, and people can go on; whatever follows is only to put things in order."""
        self.load.progress(15, 150)
        self._outage = self.load.outage(self.began)

    def outage(self) -> Outage:
        """Until the end of it."""
        if self._outage is None:
            self.end()
        assert self._outage is not None
        return self._outage

    def leader(self) -> NatsNode:
        return self.cluster.leader_of_events(self.load.shard)

    def follower(self) -> NatsNode:
        leader = self.leader()
        return self.chance.choice([node for node in self.cluster.nats if node is not leader])

    def web(self) -> Member:
        return self.chance.choice(self.cluster.webs)
