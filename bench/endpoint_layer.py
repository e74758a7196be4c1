"""What the endpoint layer itself costs per request: parsing, dispatch and reply, without server or database.

python bench/endpoint_layer.py
"""

import asyncio
import logging
import statistics
import time
from typing import Annotated, Any, Literal

import msgspec
import structlog

from tertulia.kernel.endpoint import Call, alias, describe
from tertulia.kernel.http import Api

ROUNDS = 9
REQUESTS = 5_000
FORM = (
    b"type=channel&to=%5B9%5D&content=Hello+there%2C+how+are+you%3F+%F0%9F%98%80&topic=lunch+today&read_by_sender=true"
)


class Sent(msgspec.Struct):
    id: int


async def send_message(
    call: Call,
    *,
    type: Literal["direct", "channel"],
    to: list[int],
    content: Annotated[str, msgspec.Meta(max_length=10_000)],
    topic: str | None = alias("subject"),
    read_by_sender: bool | None = None,
) -> Sent:
    """Pretend to send a message."""
    return Sent(len(content) + len(to))


async def get_message(*, message_id: int) -> Sent:
    """Pretend to read one."""
    return Sent(message_id)


API = Api(
    [describe(send_message, "POST", "/api/v1/messages"), describe(get_message, "GET", "/api/v1/messages/{message_id}")]
)


async def cost(method: str, path: str, body: bytes) -> float:
    """Microseconds per request, the median of several rounds."""
    headers = [
        (b"host", b"localhost"),
        (b"user-agent", b"bench/1"),
        (b"accept", b"*/*"),
        (b"authorization", b"Basic eA=="),
    ]
    if body:
        headers += [(b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"%d" % len(body))]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        assert message.get("status", 200) == 200

    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(REQUESTS):
            await API(scope, receive, send)
        rounds.append((time.perf_counter() - started) / REQUESTS * 1e6)
    return statistics.median(rounds)


async def main() -> None:
    print(f"POST, 5 urlencoded fields: {await cost('POST', '/api/v1/messages', FORM):.1f} us")
    print(f"GET, number in the path:   {await cost('GET', '/api/v1/messages/7', b''):.1f} us")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    asyncio.run(main())
