"""What is served outside the API: the web client, the names of emoji, pictures (server/gallery.py), and what makes it
an app (server/installing.py)."""

from tertulia.content.emoji.published import PREFIX, table_file
from tertulia.content.webclient.serving import WebClient
from tertulia.kernel.browser_policy import HARMLESS
from tertulia.kernel.call import Receive, Scope, Send
from tertulia.kernel.errors import error_body, not_found
from tertulia.server.gallery import FOR_EVER, Gallery, Shown
from tertulia.server.installing import Installing


class Site:
    """The ASGI application for addresses outside /api."""

    def __init__(self, web_client: WebClient, gallery: Gallery, installing: Installing) -> None:
        self._web_client = web_client
        self._installing = installing
        self._gallery = gallery

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if self._web_client.has(scope["path"]):
            await self._web_client(scope, receive, send)
            return
        shown = _emoji_names(scope["path"]) or await self._gallery.find(scope, receive)
        shown = shown or await self._installing.find(scope, receive) or _nothing()
        headers = [(b"content-type", shown.content_type.encode()), (b"content-length", b"%d" % len(shown.body))]
        headers += HARMLESS
        if shown.cache:
            headers += [(b"cache-control", shown.cache.encode()), (b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": shown.status, "headers": [*headers, *shown.headers]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else shown.body})


def _emoji_names(path: str) -> Shown | None:
    if path.startswith(PREFIX) and path == table_file()[0]:
        return Shown(200, "application/json", table_file()[1], FOR_EVER)
    return None


def _nothing() -> Shown:
    return Shown(404, "application/json", error_body(not_found()))
