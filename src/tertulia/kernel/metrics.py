"""What processes count, for Prometheus: the kinds that its own library lacks, and what every process says of itself.

Metrics stand where they are counted. Names begin with `tertulia_`, and labels have few values, which come from our own code:
never from what a stranger sends.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Gauge
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tertulia import __version__

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
BOUNDS: Final = [*(str(float(bound)) for bound in SECONDS), "+Inf"]


class Buckets:
    """Durations by their size: an observation is a search in a short list and two additions."""

    __slots__ = ("_counts", "_total")

    def __init__(self) -> None:
        self._counts = [0] * len(BOUNDS)
        self._total = 0.0

    def observe(self, seconds: float) -> None:
        """One more."""
        self._counts[bisect_left(SECONDS, seconds)] += 1
        self._total += seconds

    def add_to(self, family: HistogramMetricFamily, labels: list[str]) -> None:
        """Tell Prometheus."""
        family.add_metric(labels, list(zip(BOUNDS, accumulate(self._counts), strict=True)), self._total)


class Durations(Collector):
    """A histogram for hot paths: that of the library costs ten times as much, because threads may share it."""

    def __init__(self, name: str, text: str, registry: CollectorRegistry = REGISTRY) -> None:
        self._name = name
        self._text = text
        self._buckets = Buckets()
        self.observe = self._buckets.observe
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """What Prometheus reads."""
        family = HistogramMetricFamily(self._name, self._text, labels=[])
        self._buckets.add_to(family, [])
        yield family


BUILD = Gauge("tertulia_build_info", "1, for the version of the program that runs", ["version"])
BUILD.labels(__version__).set(1)
