"""Counts and durations of requests, by endpoint, for Prometheus.

Labels come from our own code only: what a stranger sends (paths, odd methods) never makes a new series.
A request costs two additions here; the families that Prometheus knows are made when it asks.
"""

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tertulia.kernel.metrics import Buckets

METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}


class RequestMetrics(Collector):
    """The `observe` of an Api."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counts: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        self._durations: defaultdict[str, Buckets] = defaultdict(Buckets)
        registry.register(self)

    def __call__(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request; `endpoint` is empty when no route matched."""
        self._counts[endpoint, method if method in METHODS else "other", status] += 1
        self._durations[endpoint].observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """What Prometheus reads."""
        requests = CounterMetricFamily(
            "tertulia_http_requests", "Requests answered.", labels=["endpoint", "method", "status"]
        )
        for (endpoint, method, status), count in self._counts.items():
            requests.add_metric([endpoint or "none", method, str(status)], count)
        yield requests
        seconds = HistogramMetricFamily(
            "tertulia_http_request_seconds",
            "Time from a request to its answer, waiting of long polls included.",
            labels=["endpoint"],
        )
        for endpoint, durations in self._durations.items():
            durations.add_to(seconds, [endpoint or "none"])
        yield seconds
