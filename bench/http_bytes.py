"""Requests as bytes, built once before a measurement, and just enough parsing of answers."""

import base64
from urllib.parse import urlencode

from tests.harness.server import User

AGENT = "website/1.0"
CONTENT = "The bridge over the old canal is closed until Thursday; take the path by the mill instead."


def request(
    method: str, path: str, user: User | None = None, fields: dict[str, str] | None = None, host: str = "localhost"
) -> bytes:
    """A complete HTTP/1.1 request over a connection that stays open. Fields go where the method expects them."""
    form = urlencode(fields or {})
    body = b""
    if form and method == "GET":
        path += "?" + form
    else:
        body = form.encode()
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"User-Agent: {AGENT}"]
    if user is not None:
        token = base64.b64encode(f"{user.email}:{user.api_key}".encode()).decode()
        lines.append(f"Authorization: Basic {token}")
    if body:
        lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def send_request(channel_id: int, user: User, content: str = CONTENT, topic: str = "bench") -> bytes:
    fields = {"type": "channel", "to": str(channel_id), "topic": topic, "content": content, "read_by_sender": "true"}
    return request("POST", "/api/v1/messages", user, fields)


class Answer:
    """Gathers the bytes of answers on one connection; `feed` tells when one is complete."""

    __slots__ = ("_body_at", "_buffer", "_end")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._end = self._body_at = -1

    def feed(self, data: bytes) -> bool:
        self._buffer += data
        if self._end < 0:
            header = self._buffer.find(b"\r\n\r\n")
            if header < 0:
                return False
            at = self._buffer.find(b"content-length: ", 0, header)
            self._body_at = header + 4
            self._end = self._body_at + (int(self._buffer[at + 16 : self._buffer.find(b"\r\n", at)]) if at > 0 else 0)
        return len(self._buffer) >= self._end

    @property
    def is_success(self) -> bool:
        return bytes(self._buffer[9:12]) in (b"200", b"304")

    @property
    def head(self) -> bytes:
        """The status line and the headers."""
        return bytes(self._buffer[: self._body_at])

    @property
    def body(self) -> bytes:
        return bytes(self._buffer[self._body_at : self._end])

    def clear(self) -> None:
        self._buffer.clear()
        self._end = self._body_at = -1
