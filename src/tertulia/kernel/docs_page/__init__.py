"""The browsable API description at /api/docs, and the OpenAPI document it reads.

Page, script and style are our own and served from here: the page talks to no other host, and its content security
policy says so to the browser.
"""

from collections.abc import Awaitable, Callable, Iterable
from importlib.resources import files

import msgspec

from tertulia.kernel.endpoint import Endpoint, describe
from tertulia.kernel.openapi import About, describe_api
from tertulia.kernel.reply import Reply

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FILES = {
    "/api/docs": ("page.html", "text/html; charset=utf-8"),
    "/api/docs/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/api/docs/page.css": ("page.css", "text/css; charset=utf-8"),
}


def documentation(endpoints: Iterable[Endpoint], about: About) -> list[Endpoint]:
    """Endpoints that describe the given ones: /api/v1/openapi.json and /api/docs."""
    document = msgspec.json.encode(describe_api(endpoints, about))
    described = [_fixed("/api/v1/openapi.json", Reply(document))]
    for path, (name, content_type) in _FILES.items():
        body = files(__package__).joinpath(name).read_bytes()
        reply = Reply(body, headers={"Content-Security-Policy": _POLICY}, content_type=content_type)
        described.append(_fixed(path, reply))
    return described


def _fixed(path: str, reply: Reply) -> Endpoint:
    async def documentation_file() -> Reply:
        return reply

    handler: Callable[[], Awaitable[Reply]] = documentation_file
    return describe(handler, "GET", path, listed=False)
