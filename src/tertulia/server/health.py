"""How a web process is: its metrics, and whether it can do its job. Answered on a port of its own (kernel/monitor.py)."""

import asyncio
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tertulia.events.queues.gateway import Gateway
from tertulia.kernel.db import Database
from tertulia.kernel.monitor import QUESTION_SECONDS
from tertulia.kernel.request_metrics import RequestMetrics
from tertulia.kernel.turns import Standstill
from tertulia.server.connection_limits import Tally
from tertulia.server.proxies import Proxies


class Stalls(Collector):
    """Of the whole process."""

    def collect(self) -> Iterator[Metric]:
        """What Prometheus reads."""
        yield CounterMetricFamily(
            "tertulia_loop_stall_seconds",
            "Time for which single requests kept everybody waiting, in turns of more than 50 ms",
            value=Standstill.seconds,
        )


class Health:
    """Knows more and more while the process starts; what is not there yet is what it waits for."""

    def __init__(self, proxies: Proxies) -> None:
        self.registry = CollectorRegistry()
        self.is_listening = False
        self._database: Database | None = None
        self._gateway: Gateway | None = None
        self.observe = RequestMetrics(self.registry)
        self.registry.register(Stalls())
        said = Gauge(
            "tertulia_forwarded_requests",
            "Requests by what X-Forwarded-For said: `named` by a trusted proxy, `silent` of one, `disbelieved` of others.",
            ["said"],
            registry=self.registry,
        )
        said.labels("named").set_function(lambda: proxies.named_client)
        said.labels("silent").set_function(lambda: proxies.silent)
        said.labels("disbelieved").set_function(lambda: proxies.disbelieved)

    def watch_connections(self, tally: Tally) -> None:
        """The port is open."""
        connections = Gauge("tertulia_connections", "Open connections of clients and proxies.", registry=self.registry)
        connections.set_function(lambda: tally.connections)
        unsent = Gauge(
            "tertulia_unsent_answer_bytes", "Bytes of answers that clients do not read yet.", registry=self.registry
        )
        unsent.set_function(lambda: tally.unsent.total)

    def watch(self, database: Database, gateway: Gateway) -> None:
        """The engines are there."""
        self._database, self._gateway = database, gateway
        pool = Gauge(
            "tertulia_postgres_connections",
            "Connections of this process's pool: idle, or used by a request.",
            ["state"],
            registry=self.registry,
        )
        pool.labels("idle").set_function(database.pool.get_idle_size)
        pool.labels("used").set_function(lambda: database.pool.get_size() - database.pool.get_idle_size())
        queues = Gauge("tertulia_event_queues", "Event queues in this process.", registry=self.registry)
        queues.set_function(lambda: gateway.queue_count)
        waiting = Gauge("tertulia_waiting_polls", "Long polls waiting in this process.", registry=self.registry)
        waiting.set_function(lambda: gateway.waiting_count)

    async def is_serving(self) -> bool:
        """Whether requests sent here are answered better than with a closed port: nothing is asked of the engines, which all
        web processes share."""
        return self.is_listening and self._gateway is not None

    async def missing(self) -> str | None:
        """What this process waits for; None: it can work."""
        if self._database is None or self._gateway is None:
            return "PostgreSQL and NATS"
        if self._gateway.draining:
            return "nothing: this process is stopping"
        if not self._gateway.is_ready:
            return "the event log (NATS, and a relay that has opened it)"
        has_jetstream, lacking = await asyncio.gather(
            self._gateway.is_answered_by_jetstream(QUESTION_SECONDS), self._database.missing(QUESTION_SECONDS)
        )
        if not has_jetstream:
            return "JetStream, which does not answer: `tertulia doctor` says what to do"
        if lacking is not None:
            return lacking
        return None if self.is_listening else "its port"
