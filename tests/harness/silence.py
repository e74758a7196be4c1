"""A service that takes every connection and never answers: the worst way to be away."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_service() -> Iterator[str]:
    """Its host and port. The system takes the connections, and what is sent on them; nobody reads it."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def silent_bucket(place: str) -> dict[str, str]:
    """Settings of a server whose files are there."""
    return {
        "s3_bucket": "files",
        "s3_endpoint": f"http://{place}",
        "s3_access_key_id": "tests",
        "s3_secret_access_key": "tests-secret",
    }
