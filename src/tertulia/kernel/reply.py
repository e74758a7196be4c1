"""Answers: what an endpoint returned becomes bytes, exactly once.

A success is the returned Struct, dict or `msgspec.Raw` (an already encoded JSON object) with `result` and `msg` put in
front of its encoded form. A `Reply` is sent as it is.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Self

import msgspec

_encode = msgspec.json.Encoder().encode
_SUCCESS = b'{"result":"success","msg":""'

JSON = "application/json"


class Reply:
    """A complete answer: its bytes, status and headers. Its headers win over the common ones."""

    __slots__ = ("body", "chunks", "content_type", "headers", "size", "status")

    def __init__(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] | None = None, content_type: str = JSON
    ) -> None:
        self.body = body
        self.status = status
        self.headers = headers
        self.content_type = content_type
        self.chunks: AsyncIterator[bytes] | None = None
        """Sent instead of the body, while they come; together `size` bytes."""
        self.size = 0

    @classmethod
    def streamed(
        cls, chunks: AsyncIterator[bytes], size: int, status: int, headers: Mapping[str, str], content_type: str
    ) -> Self:
        """An answer that is too large to be held whole."""
        reply = cls(b"", status, headers, content_type)
        reply.chunks, reply.size = chunks, size
        return reply


def success_body(result: Any, ignored: list[str] | None = None) -> bytes:
    """The body of a success, newline included."""
    head = _SUCCESS
    if ignored:
        head += b',"ignored_parameters_unsupported":' + _encode(ignored)
    if result is None:
        return head + b"}\n"
    body = _encode(result)
    if body[:1] != b"{":
        raise TypeError(f"an endpoint returned {type(result).__name__}, which is not a JSON object")
    if body == b"{}":
        return head + b"}\n"
    return b"%b,%b\n" % (head, body[1:])
