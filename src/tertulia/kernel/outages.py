"""What the log says while an engine is away: at once, then now and then, and when it is back. Never at each try."""

import time
from typing import Final

import structlog
from prometheus_client import Counter, Gauge

from tertulia.kernel.engine_addresses import nats_servers, single_host_urls
from tertulia.kernel.urls import split_url

log = structlog.get_logger()

UP = Gauge("tertulia_engine_up", "1: the engine answered when this process last needed it; 0: it did not", ["engine"])
OUTAGES = Counter("tertulia_engine_outages", "Times that an engine went away", ["engine"])

AGAIN_SECONDS: Final = 30.0
MOST_AT_ONCE: Final = 5
"""Different errors of one outage that are said without waiting."""


class Outage:
    """One engine, as this process reaches it. `address` has no password."""

    def __init__(self, engine: str, address: str) -> None:
        self._engine = engine
        self._address = address
        self._since: float | None = None
        self._told = 0.0
        self._said: set[str] = set()
        OUTAGES.labels(engine)

    def goes_on(self, error: object) -> None:
        """It did not answer. Something else than before is said at once."""
        now, said = time.monotonic(), str(error) or repr(error)
        UP.labels(self._engine).set(0)
        if self._since is None:
            self._since = now
            OUTAGES.labels(self._engine).inc()
        if now - self._told < AGAIN_SECONDS and (said in self._said or len(self._said) >= MOST_AT_ONCE):
            return
        self._told = now
        self._said.add(said)
        log.warning("an engine is away", **self._names(), error=said, seconds=round(now - self._since))

    def is_over(self) -> None:
        """It answers."""
        UP.labels(self._engine).set(1)
        if self._since is not None:
            log.info("an engine is back", **self._names(), seconds=round(time.monotonic() - self._since))
        self._since = None
        self._said.clear()

    def _names(self) -> dict[str, str]:
        return {"engine": self._engine, "address": self._address}


def postgres_outage(url: str) -> Outage:
    """Of PostgreSQL at this address."""
    return Outage("PostgreSQL", ", ".join(_without_user(one) for one in single_host_urls(url)))


def nats_outage(url: str) -> Outage:
    """Of NATS at this address."""
    return Outage("NATS", ", ".join(_without_user(one) for one in nats_servers(url)))


def _without_user(url: str) -> str:
    parts = split_url(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
