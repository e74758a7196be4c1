"""Counts and durations of requests, by endpoint, for Prometheus.

Labels come from our own code only: what a stranger sends (paths, odd methods) never makes a new series.
"""

from prometheus_client import CollectorRegistry, Counter, Histogram

_METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class RequestMetrics:
    """The `observe` of an Api."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._count = Counter(
            "tertulia_http_requests", "Requests answered.", ["endpoint", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "tertulia_http_request_seconds",
            "Time from a request to its answer, waiting of long polls included.",
            ["endpoint"],
            registry=registry,
            buckets=_SECONDS,
        )
        # Label lookup in the client library costs more than counting: keep the children.
        self._counters: dict[tuple[str, str, int], Counter] = {}
        self._timers: dict[str, Histogram] = {}

    def __call__(self, endpoint: str, method: str, status: int, seconds: float) -> None:
        """Count one answered request; `endpoint` is empty when no route matched."""
        key = (endpoint, method if method in _METHODS else "other", status)
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = self._count.labels(endpoint or "none", key[1], str(status))
        counter.inc()
        timer = self._timers.get(endpoint)
        if timer is None:
            timer = self._timers[endpoint] = self._seconds.labels(endpoint or "none")
        timer.observe(seconds)
