"""What is served outside the API: the web client, health, metrics, avatars, custom emoji, the names of emoji, and the icon."""

import re

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, ProcessCollector, generate_latest

from tertulia.custom_emoji.queries import find_picture
from tertulia.emoji.published import PREFIX, table_file
from tertulia.events.gateway import Gateway
from tertulia.kernel.call import Receive, Scope, Send
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.errors import error_body, not_found
from tertulia.kernel.request_metrics import RequestMetrics
from tertulia.markup import previews
from tertulia.users.avatars import CACHE_CONTROL, MEDIUM, SMALL, identicon
from tertulia.webclient.serving import WebClient

_ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#b4502f"/>'
    b'<path d="M14 20h26v6H30v24h-7V26h-9z" fill="#fff"/><circle cx="46" cy="34" r="5" fill="#f6c667"/></svg>'
)
_LOADING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="20" fill="none" stroke="#b4502f" '
    b'stroke-width="5" stroke-dasharray="90 36"><animateTransform attributeName="transform" type="rotate" '
    b'values="0 32 32;360 32 32" dur="1.2s" repeatCount="indefinite"/></circle></svg>'
)
_AVATAR = re.compile(r"/avatar/([0-9]{1,19})(/medium)?")
_EMOJI = re.compile(r"/user_avatars/([0-9]{1,18})/emoji/images/([0-9a-f]{16}(?:\.png|\.webp|-still\.png))")
_FOR_EVER = "public, max-age=31536000, immutable"


class Site:
    """The ASGI application for addresses outside /api."""

    def __init__(self, database: Database, gateway: Gateway, web_client: WebClient) -> None:
        self._database = database
        self._gateway = gateway
        self._web_client = web_client
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
        status, content_type, body = await self._answer(scope["path"])
        headers = [(b"content-type", content_type.encode()), (b"content-length", b"%d" % len(body))]
        headers.append((b"x-content-type-options", b"nosniff"))
        if content_type == "image/svg+xml":
            headers.append((b"cache-control", CACHE_CONTROL.encode()))
        elif status == 200 and scope["path"].startswith((PREFIX, "/user_avatars/")):
            headers += [(b"cache-control", _FOR_EVER.encode()), (b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _answer(self, path: str) -> tuple[int, str, bytes]:
        match path:
            case "/health/live":
                return 200, "text/plain", b"alive\n"
            case "/health/ready":
                missing = await self._missing()
                return (
                    (503, "text/plain", f"waiting for {missing}\n".encode())
                    if missing
                    else (200, "text/plain", b"ready\n")
                )
            case "/metrics":
                return 200, CONTENT_TYPE_LATEST, generate_latest(self._registry)
            case previews.LOADING:
                return 200, "image/svg+xml", _LOADING
            case "/static/icon.svg" | "/favicon.ico":
                return 200, "image/svg+xml", _ICON
        if avatar := _AVATAR.fullmatch(path):
            # Drawn from the number alone: whether there is such a user is nobody's business who is not logged in.
            return 200, "image/svg+xml", identicon(int(avatar[1]), MEDIUM if avatar[2] else SMALL)
        if picture := _EMOJI.fullmatch(path):
            return await self._emoji(int(picture[1]), picture[2])
        if path.startswith(PREFIX) and path == table_file()[0]:
            return 200, "application/json", table_file()[1]
        return 404, "application/json", error_body(not_found())

    async def _emoji(self, realm_id: int, file_name: str) -> tuple[int, str, bytes]:
        """Pictures are named after what is in them, so whoever knows the name has seen it."""
        async with self._database.reader() as reader:
            found = await find_picture(reader, realm_id, file_name)
        if found is None:
            return 404, "application/json", error_body(not_found())
        return 200, "image/png" if file_name.endswith("png") else "image/webp", found

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
