"""The ASGI application for the built client: its page at `/`, its files beside it."""

from tertulia.content.webclient.files import ENCODINGS, INDEX, BuiltFile, BuiltFiles
from tertulia.content.webclient.policy import ASK_AGAIN, FILE_HEADERS, FOR_EVER, PAGE_HEADERS
from tertulia.kernel.call import Receive, Scope, Send
from tertulia.kernel.conditions import accepted_encoding, has_entity

Headers = list[tuple[bytes, bytes]]

_NOT_BUILT = b"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Tertulia</title></head>
<body>
<main>
<h1>Tertulia is running</h1>
<p>Its web client has not been built. With Node.js 20 or newer, in the folder of the sources:</p>
<pre>bin/setup</pre>
<p>or, for the client alone: <code>cd web &amp;&amp; npm ci &amp;&amp; npm run build</code>. Then load this page again.</p>
<p>The API is described at <a href="/api/docs">/api/docs</a>.</p>
</main>
</body>
</html>
"""


class WebClient:
    """Serves the files of one build."""

    def __init__(self, files: BuiltFiles) -> None:
        self._files = files

    def has(self, path: str) -> bool:
        """Whether this address is one of ours."""
        return path == "/" or path[1:] in self._files.all()

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """ASGI."""
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            status, headers, body = 405, [(b"allow", b"GET, HEAD"), *FILE_HEADERS], b""
        elif (file := self._files.all().get(path[1:] or INDEX)) is None:
            status, headers, body = _not_built()
        else:
            status, headers, body = _answer(file, path, dict(scope["headers"]))
        headers.append((b"x-content-type-options", b"nosniff"))
        if status != 304:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _not_built() -> tuple[int, Headers, bytes]:
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store"), *PAGE_HEADERS]
    return 200, headers, _NOT_BUILT


def _answer(file: BuiltFile, path: str, asked: dict[bytes, bytes]) -> tuple[int, Headers, bytes]:
    available = [each for each in ENCODINGS if each in file.bodies]
    encoding = accepted_encoding(asked.get(b"accept-encoding", b"").decode("latin-1"), available) or ""
    etag = f'"{file.etag}{"-" + encoding if encoding else ""}"'
    headers: Headers = [
        (b"cache-control", FOR_EVER if path.startswith("/assets/") else ASK_AGAIN),
        (b"etag", etag.encode()),
        (b"vary", b"Accept-Encoding"),
    ]
    headers += PAGE_HEADERS if file.content_type.startswith("text/html") else FILE_HEADERS
    if has_entity(asked.get(b"if-none-match", b"").decode("latin-1"), etag):
        return 304, headers, b""
    headers.append((b"content-type", file.content_type.encode()))
    if encoding:
        headers.append((b"content-encoding", encoding.encode()))
    return 200, headers, file.bodies[encoding]
