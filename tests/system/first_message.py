"""What the owner of a new server does, through its proxy and TLS: opens the link, chooses a password, says something, hears it.

Nothing but the standard library: it runs in roots that have nothing else. Arguments: the link, the owner's address, and the
file of the certificate to trust, which may still be on its way.
"""

import base64
import json
import ssl
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

PASSWORD = "seven copper kettles sing"
PATIENCE = 60.0
T = TypeVar("T")


def main(link: str, email: str, authority: str) -> None:
    eventually(Path(authority).stat)
    server = Server(link, ssl.create_default_context(cafile=authority))
    page = eventually(lambda: server.ask(urllib.parse.urlsplit(link).path))
    assert "new_password" in page, page
    api = "/api/v1"
    token = link.rpartition("/")[2]
    server.ask(f"{api}/accounts/password/reset/confirm", {"token": token, "new_password": PASSWORD})
    key = json.loads(server.ask(f"{api}/fetch_api_key", {"username": email, "password": PASSWORD}))["api_key"]
    server.log_in(email, key)
    queue = json.loads(server.ask(f"{api}/register", {"event_types": '["message"]', "narrow": '[["topic", "first"]]'}))
    said = {"type": "channel", "to": "general", "topic": "first", "content": "It works!"}
    sent = json.loads(server.ask(f"{api}/messages", said))["id"]
    since = urllib.parse.urlencode({"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"]})
    [event] = json.loads(server.ask(f"{api}/events?{since}"))["events"]
    assert (event["message"]["id"], event["message"]["content"]) == (sent, "It works!"), event
    file = json.loads(server.upload(f"{api}/user_uploads", "a.txt", b"some bytes"))
    assert server.ask(file["url"]) == "some bytes"
    server.upload(
        f"{api}/users/me/avatar", "a.png", red_square()
    )  # a process of its own reads pictures, and bounds itself
    print(f"heard: {said['content']}")


class Server:
    """The server at a link."""

    def __init__(self, link: str, trust: ssl.SSLContext) -> None:
        self._base = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(link))
        self._trust = trust
        self._headers: dict[str, str] = {}

    def log_in(self, email: str, key: str) -> None:
        self._headers["Authorization"] = f"Basic {base64.b64encode(f'{email}:{key}'.encode()).decode()}"

    def ask(self, path: str, data: dict[str, str] | None = None) -> str:
        return self._send(path, None if data is None else urllib.parse.urlencode(data).encode(), {})

    def upload(self, path: str, name: str, content: bytes) -> str:
        head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        return self._send(
            path, head.encode() + content + b"\r\n--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}
        )

    def _send(self, path: str, body: bytes | None, headers: dict[str, str]) -> str:
        request = urllib.request.Request(self._base + path, body, self._headers | headers)
        with urllib.request.urlopen(request, context=self._trust, timeout=90) as reply:
            text: Any = reply.read().decode()
            return str(text)


def red_square(side: int = 16) -> bytes:
    """As PNG."""
    lines = b"".join(b"\0" + b"\xff\0\0" * side for _ in range(side))
    parts = [
        (b"IHDR", struct.pack(">2I5B", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines)),
        (b"IEND", b""),
    ]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def eventually(attempt: Callable[[], T]) -> T:
    """What it gives, once it does: engines, server and proxy take a moment to start."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except (OSError, urllib.error.URLError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
