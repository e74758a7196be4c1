"""People at work on a cluster, in a thread of their own, and how long they had to wait."""

import asyncio
import itertools
import random
import threading
import time
from collections.abc import Coroutine, Iterable
from types import TracebackType
from typing import Any, NamedTuple, Self

import uvloop

from tests.cluster.topology import Cluster
from tests.cluster.workshop import Workshop
from tests.harness.schemas import schemas_at

SHARDS = 4


class Outage(NamedTuple):
    """In seconds, during one fault."""

    sends: float
    """The longest time in which nobody's message was answered."""
    client: float
    """The longest time in which one of the senders got no answer."""
    events: float
    """The longest time in which one of the listeners heard nothing."""

    def __str__(self) -> str:
        return f"sends stop {self.sends:.1f} s, one client's {self.client:.1f} s, events {self.events:.1f} s"


class Load:
    """`with Load(cluster, seed) as load:`; at the end of the block everything is checked (chatter.py, workshop.py)."""

    def __init__(self, cluster: Cluster, seed: int, *, pause: float = 0.06) -> None:
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="load", daemon=True)
        self._thread.start()
        schemas_at(cluster.url)
        self.people: Workshop = self._run(_make(cluster, seed, pause))
        self._living = self.people.running()

    @property
    def shard(self) -> int:
        """Of the event stream that these people are on."""
        return self.people.realm_id % SHARDS

    def __enter__(self) -> Self:
        self._run(self._living.__aenter__())
        self.progress(3)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._run(self._living.__aexit__(kind, error, trace))
        finally:
            self.people.hooks.stop()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()

    def progress(self, sends: int, seconds: float = 90) -> None:
        """Until that many more messages were answered, and every listener has heard something new."""
        self._run(self.people.progress(sends, seconds))

    def upload(self) -> int:
        """Somebody uploads a file; the status of the answer."""
        [status] = self.uploads(1)
        return status

    def uploads(self, count: int) -> list[int]:
        """The same at once, so often."""
        statuses: list[int] = self._run(self.people.uploads(count))
        return statuses

    def outage(self, since: float) -> Outage:
        """The longest gaps from that moment (time.monotonic) until now."""
        answered: dict[int, list[float]] = {number: [] for number in range(4)}
        for words in tuple(self.people.words):
            if words.answered and words.content != "the end":
                answered[words.sender].append(words.answered)
        until = time.monotonic()
        gaps = [_longest_gap(times, since, until) for times in answered.values()]
        together = sorted(moment for times in answered.values() for moment in times)
        awake = [one for one in self.people.listeners if one.asleep_until < since]
        heard = [_longest_gap(tuple(one.times), since, until) for one in awake]
        return Outage(_longest_gap(together, since, until), max(gaps), max(heard))

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(300)


async def _make(cluster: Cluster, seed: int, pause: float) -> Workshop:
    return Workshop(cluster, [cluster.url], random.Random(seed), pause=pause, mails=cluster.mails)


def _longest_gap(times: Iterable[float], since: float, until: float) -> float:
    """The longest time without any of these moments, as far as it overlaps with the time that is looked at."""
    moments = [since, *sorted(moment for moment in times if since < moment < until), until]
    return max(later - earlier for earlier, later in itertools.pairwise(moments))
