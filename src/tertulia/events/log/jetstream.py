"""JetStream's API: one request, one answer; and the streams it tells of.

Invariant: `None` always means *the server said that it does not exist*. Not knowing (time-out, no leader, no connection) is
`StreamUnavailable`: a caller must never take the one for the other, because a missing stream opens a new epoch.
"""

import asyncio
import time
from collections.abc import Collection
from typing import Any, Final, NamedTuple

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

API_TIMEOUT: Final = 5.0
AGAIN_SECONDS: Final = 1.0
STREAM_NOT_FOUND: Final = 10059
MESSAGE_NOT_FOUND: Final = 10037


class StreamUnavailable(Exception):
    """JetStream did not answer, or answered that it cannot answer now."""


class StreamInfo(msgspec.Struct, frozen=True):
    name: str
    created: str
    first_seq: int
    last_seq: int
    messages: int
    bytes: int = 0


class ApiError(msgspec.Struct, frozen=True):
    code: int = 0
    err_code: int = 0
    description: str = ""


async def call_api(
    nc: Client,
    subject: str,
    request: dict[str, Any] | None = None,
    *,
    missing: Collection[int] = (),
    seconds: float = API_TIMEOUT,
) -> dict[str, Any] | None:
    """One JetStream API request. None for the error codes `missing`; every other error is StreamUnavailable."""
    msg = await _ask_until_answered(nc, f"$JS.API.{subject}", request, seconds)
    answer: dict[str, Any] = msgspec.json.decode(msg.data) if msg.data else {}
    if not answer:
        raise StreamUnavailable(f"{subject}: empty answer, headers {msg.headers}")
    error = msgspec.convert(answer.get("error") or {}, ApiError)
    if error.code:
        if error.err_code in missing:
            return None
        raise StreamUnavailable(f"{subject}: {error.description} ({error.err_code})")
    return answer


async def create_stream(nc: Client, config: dict[str, Any]) -> StreamInfo:
    """Create a stream, or find one that has exactly this configuration."""
    answer = await call_api(nc, f"STREAM.CREATE.{config['name']}", config)
    assert answer is not None
    return stream_info(answer)


async def update_stream(nc: Client, name: str, wanted: dict[str, Any]) -> bool:
    """Give an existing stream these settings, if it has others; whether it had."""
    answer = await call_api(nc, f"STREAM.INFO.{name}", missing=[STREAM_NOT_FOUND])
    if answer is None or all(answer["config"].get(key) == value for key, value in wanted.items()):
        return False
    await call_api(nc, f"STREAM.UPDATE.{name}", answer["config"] | wanted)
    return True


async def delete_stream(nc: Client, name: str) -> bool:
    return await call_api(nc, f"STREAM.DELETE.{name}", missing=[STREAM_NOT_FOUND]) is not None


async def list_streams(nc: Client) -> list[StreamInfo]:
    """Every stream that exists."""
    found: list[StreamInfo] = []
    while True:
        page = await call_api(nc, "STREAM.LIST", {"offset": len(found)})
        assert page is not None
        streams = page.get("streams") or []
        found += map(stream_info, streams)
        if not streams or len(found) >= page["total"]:
            return found


def stream_info(answer: dict[str, Any]) -> StreamInfo:
    state = answer["state"]
    return StreamInfo(
        name=answer["config"]["name"],
        created=answer["created"],
        first_seq=state["first_seq"],
        last_seq=state["last_seq"],
        messages=state["messages"],
        bytes=state.get("bytes", 0),
    )


async def request_api(nc: Client, subject: str, request: dict[str, Any] | None, seconds: float = API_TIMEOUT) -> Msg:
    """One request to JetStream; the answer as it came."""
    try:
        return await nc.request(subject, msgspec.json.encode(request) if request else b"", timeout=seconds)
    except (nats.errors.Error, OSError) as error:
        raise StreamUnavailable(f"{subject}: {error!r}") from error


async def _ask_until_answered(nc: Client, subject: str, request: dict[str, Any] | None, seconds: float) -> Msg:
    """Whoever asks while a leader is elected is never answered, however long they wait: the same is asked again each second, and
    the first answer counts."""
    asked: list[asyncio.Task[Msg]] = []
    end = time.monotonic() + seconds
    try:
        while True:
            left = max(end - time.monotonic(), 0)
            asked.append(asyncio.create_task(request_api(nc, subject, request, left)))
            answered, _ = await asyncio.wait(asked, timeout=AGAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if answered:
                return await answered.pop()
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


class Batch(NamedTuple):
    """What one direct get brought, as far as it arrived, and the headers that ended it."""

    messages: list[Msg]
    end: dict[str, str]


async def get_batch(nc: Client, name: str, request: dict[str, Any], seconds: float = API_TIMEOUT) -> Batch:
    """Several messages of a stream by one request. Any replica may answer, also one that is behind."""
    messages: list[Msg] = []
    ended: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def arrived(msg: Msg) -> None:
        headers = msg.headers or {}
        if "Status" not in headers:
            messages.append(msg)
        elif not ended.done():
            ended.set_result(headers)

    inbox = nc.new_inbox()
    try:
        sub = await nc.subscribe(inbox, cb=arrived)
        try:
            await nc.publish(f"$JS.API.DIRECT.GET.{name}", msgspec.json.encode(request), reply=inbox)
            end = await asyncio.wait_for(ended, seconds)
        finally:
            await sub.unsubscribe()
    except (nats.errors.Error, OSError) as error:
        raise StreamUnavailable(f"batch from {name}: {error!r}") from error
    if end["Status"] not in ("204", "404"):
        raise StreamUnavailable(f"batch from {name}: status {end['Status']}")
    return Batch(messages, end)
