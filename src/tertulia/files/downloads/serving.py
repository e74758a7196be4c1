"""A stored object as an answer: ranges, revalidation, and headers that keep a stranger's bytes harmless."""

import hashlib
from collections.abc import AsyncIterator

from tertulia.content.storage import NotStored, Store
from tertulia.files.downloads.ranges import part_of
from tertulia.files.uploads.kinds import SHOWN, UNKNOWN
from tertulia.files.uploads.names import disposition
from tertulia.kernel.call import Call
from tertulia.kernel.conditions import has_entity
from tertulia.kernel.endpoint import Reply
from tertulia.kernel.errors import not_found

SANDBOX = (
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
ASK_AGAIN = "private, no-cache"
"""Kept by the reader's own browser only, and asked for again each time: a right may have gone."""


async def serve(
    call: Call, store: Store, key: str, *, name: str, content_type: str, size: int, site: str = "same-origin"
) -> Reply:
    """The object, or the part of it that the request asks for. `site`: whose pages may embed it."""
    shown = content_type in SHOWN
    etag = f'"{hashlib.sha256(key.encode()).hexdigest()[:32]}"'
    headers = {
        "ETag": etag,
        "Cache-Control": ASK_AGAIN,
        "Accept-Ranges": "bytes",
        "Content-Disposition": disposition("inline" if shown else "attachment", name),
        "Content-Security-Policy": SANDBOX,
        "Cross-Origin-Resource-Policy": site,
    }
    kind = content_type if shown else UNKNOWN
    if has_entity(call.header("if-none-match"), etag):
        return Reply(b"", 304, headers, kind)
    unchanged = call.header("if-range") in (None, etag)
    part = part_of(call.header("range"), size) if unchanged and call.method == "GET" else None
    if call.method == "HEAD":
        return Reply.streamed(_nothing(), size, 200, headers, kind)
    try:
        stored = await store.get(key, *(part or (0, None)))
        chunks = await _begun(stored.chunks)
    except NotStored:
        raise not_found() from None
    status = 200
    if part is not None:
        status = 206
        headers["Content-Range"] = f"bytes {stored.start}-{stored.end - 1}/{stored.size}"
    return Reply.streamed(chunks, stored.end - stored.start, status, headers, kind)


async def _begun(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same, its first piece read already: that an object is gone, or the store away, can be said only before the answer
    begins."""
    first = await anext(chunks, b"")
    return _all(first, chunks)


async def _all(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _nothing() -> AsyncIterator[bytes]:
    for _ in ():
        yield b""
