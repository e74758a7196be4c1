"""What is served outside the API: the web client, health, metrics, the names of emoji, and pictures (gallery.py)."""

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, ProcessCollector, generate_latest

from tertulia.emoji.published import PREFIX, table_file
from tertulia.events.gateway import Gateway
from tertulia.gallery import FOR_EVER, Gallery, Shown
from tertulia.kernel.call import Receive, Scope, Send
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.errors import error_body, not_found
from tertulia.kernel.request_metrics import RequestMetrics
from tertulia.webclient.serving import WebClient


class Site:
    """The ASGI application for addresses outside /api."""

    def __init__(self, database: Database, gateway: Gateway, web_client: WebClient, gallery: Gallery) -> None:
        self._database = database
        self._gateway = gateway
        self._web_client = web_client
        self._gallery = gallery
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.observe = RequestMetrics(self._registry)
        queues = Gauge("tertulia_event_queues", "Event queues in this process.", registry=self._registry)
        queues.set_function(lambda: gateway.queue_count)
        waiting = Gauge("tertulia_waiting_polls", "Long polls waiting in this process.", registry=self._registry)
        waiting.set_function(lambda: gateway.waiting_count)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if self._web_client.has(scope["path"]):
            await self._web_client(scope, receive, send)
            return
        shown = await self._answer(scope["path"]) or await self._gallery.find(scope, receive) or _nothing()
        headers = [(b"content-type", shown.content_type.encode()), (b"content-length", b"%d" % len(shown.body))]
        headers.append((b"x-content-type-options", b"nosniff"))
        if shown.cache:
            headers += [(b"cache-control", shown.cache.encode()), (b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": shown.status, "headers": [*headers, *shown.headers]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else shown.body})

    async def _answer(self, path: str) -> Shown | None:
        match path:
            case "/health/live":
                return Shown(200, "text/plain", b"alive\n")
            case "/health/ready":
                missing = await self._missing()
                if missing:
                    return Shown(503, "text/plain", f"waiting for {missing}\n".encode())
                return Shown(200, "text/plain", b"ready\n")
            case "/metrics":
                return Shown(200, CONTENT_TYPE_LATEST, generate_latest(self._registry))
        if path.startswith(PREFIX) and path == table_file()[0]:
            return Shown(200, "application/json", table_file()[1], FOR_EVER)
        return None

    async def _missing(self) -> str | None:
        if self._gateway.draining:
            return "nothing: this process is stopping"
        if not self._gateway.is_ready:
            return "the event log (NATS, and a relay that has opened it)"
        try:
            await self._database.pool.fetchval("select 1", timeout=2)
        except (*LOST, TimeoutError):
            return "PostgreSQL"
        return None


def _nothing() -> Shown:
    return Shown(404, "application/json", error_body(not_found()))
