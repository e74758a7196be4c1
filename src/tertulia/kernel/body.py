"""Reads the parameters of a request: query string first, then a body that overrides it.

Bodies are urlencoded, multipart or a JSON object, for every method; another content type is no parameters. The size is
limited by what Content-Length promises and by what arrives. A body that is too large is read and thrown away up to a
point, so that the client gets to see the answer; beyond that the connection is closed with it.

Only files may be large: parameters are held in memory whole and read without a pause, while nobody else is answered.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from tertulia.kernel.call import MAX_CLIENT_NAME, Call, ClientGone
from tertulia.kernel.errors import Refusal, payload_too_large
from tertulia.kernel.json_guard import JsonTrouble, check_depth
from tertulia.kernel.multipart import MultipartReader
from tertulia.kernel.urlencoded import MAX_FIELDS, UnfitText, read_urlencoded, too_many_fields

# How much of a body that is too large is read and thrown away: this many times the limit, but not less than many clients
# send as a file; and for how long.
DRAIN = 2
DRAIN_AT_LEAST = 50 * 1024 * 1024
DRAIN_SECONDS = 5.0

_FORM = b"application/x-www-form-urlencoded"
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_text = msgspec.json.Decoder(str).decode

Field = str | msgspec.Raw | UnfitText


async def read_fields(call: Call, limit: int, with_files: int | None = None) -> dict[str, Field]:
    """Every parameter of the request, undecoded. Also learns the client's name.

    `limit`: of a body of parameters, and of those beside files. `with_files`: of a body that brings files, where they are taken.
    """
    fields: dict[str, Field] = {}
    query = call.scope["query_string"]
    if query:
        read_urlencoded(query, fields)
    headers = call.raw_headers
    if headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers:
        await _read_body(call, limit, with_files, fields)
    named = fields.get("client")
    if named:
        call.named_client = _client_name(named)
    return fields


async def read_raw(call: Call, limit: int) -> dict[str, Field]:
    """The parameters in the address, undecoded; the body goes into `call.body` as it came."""
    fields = read_query(call)
    call.body = await _whole(call, limit)
    return fields


def read_query(call: Call) -> dict[str, Field]:
    """The parameters of the query string alone: the body is read by somebody else."""
    fields: dict[str, Field] = {}
    read_urlencoded(call.scope["query_string"], fields)
    if named := fields.get("client"):
        call.named_client = _client_name(named)
    return fields


async def _read_body(call: Call, limit: int, with_files: int | None, fields: dict[str, Field]) -> None:
    kind = call.raw_headers.get(b"content-type", _FORM)
    media_type = kind.partition(b";")[0].strip().lower()
    if media_type == _FORM:
        read_urlencoded(await _whole(call, limit), fields)
    elif media_type == b"multipart/form-data":
        reader = MultipartReader(kind, fields, call.files, max_text=limit)
        async for chunk in body_chunks(call, with_files or limit, kept=limit):  # files lie on the disk
            reader.feed(chunk)
        reader.finish()
    elif media_type == b"application/json":
        _read_object(await _whole(call, limit), fields)


async def _whole(call: Call, limit: int) -> bytes:
    await _check_declared(call, limit)
    parts, size, more = [], 0, True
    while more:
        chunk, more = await _next_chunk(call, size, limit, limit)
        size += len(chunk)
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def body_chunks(call: Call, limit: int, *, kept: int) -> AsyncIterator[bytes]:
    """The body while it arrives; refuses one of more than `limit` bytes. `kept`: so many of them stay in memory at most."""
    await _check_declared(call, limit)
    size = 0
    more = True
    while more:
        chunk, more = await _next_chunk(call, size, limit, kept)
        size += len(chunk)
        if chunk:
            yield chunk


async def _check_declared(call: Call, limit: int) -> None:
    declared = call.raw_headers.get(b"content-length", b"0")
    if not declared.isdigit():
        raise Refusal("Content-Length is not a number")
    if int(declared) > limit:
        raise await _too_large(call, limit)


async def _next_chunk(call: Call, size: int, limit: int, kept: int) -> tuple[bytes, bool]:
    """What comes after the first `size` bytes, and whether there is more."""
    message = await call.receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    chunk: bytes = message.get("body", b"")
    more: bool = message.get("more_body", False)
    if size + len(chunk) > limit:
        raise await _too_large(call, limit) if more else payload_too_large(limit)
    if chunk and call.held < kept:
        call.hold(min(len(chunk), kept - call.held))
    return chunk, more


async def _too_large(call: Call, limit: int) -> Refusal:
    drained = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while drained <= max(DRAIN * limit, DRAIN_AT_LEAST):
                message = await call.receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                if not message.get("more_body", False):
                    return payload_too_large(limit)
                drained += len(message.get("body", b""))
    except TimeoutError:
        pass
    return payload_too_large(limit, close=True)


def _read_object(body: bytes, fields: dict[str, Field]) -> None:
    if not body:
        return
    try:
        check_depth(body)
        sent = _decode_object(body)
    except JsonTrouble as trouble:
        raise Refusal(f"The request body {trouble}", code="INVALID_JSON") from None
    except msgspec.ValidationError:
        raise Refusal("The request body is not a JSON object", code="INVALID_JSON") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Refusal("The request body is not valid JSON", code="INVALID_JSON") from None
    if len(sent) > MAX_FIELDS:
        raise too_many_fields()
    fields.update(sent)


def _client_name(named: Field) -> str | None:
    if isinstance(named, UnfitText):
        named = named.text or ""
    elif not isinstance(named, str):
        try:
            named = _decode_text(named)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
    return named.replace("\0", "").strip()[:MAX_CLIENT_NAME].strip() or None
