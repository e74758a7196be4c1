"""A service that speaks S3, for tests: moto's server, in a process of its own."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tertulia.engines import ChildProcess, free_port
from tertulia.kernel.settings import Settings

_SECRETS = {"s3_access_key_id": "tests", "s3_secret_access_key": "tests-secret"}


class Bucket:
    """An empty bucket."""

    def __init__(self, endpoint: str, name: str) -> None:
        self.endpoint = endpoint
        self.name = name
        self.http = httpx.Client(base_url=endpoint, headers={"Authorization": "AWS tests:x"}, trust_env=False)
        self.http.put(f"/{name}").raise_for_status()

    @property
    def settings(self) -> dict[str, str]:
        return {"s3_bucket": self.name, "s3_endpoint": self.endpoint, "s3_prefix": "tertulia", **_SECRETS}

    def unfinished(self) -> int:
        """Uploads in parts that were begun and neither finished nor given up."""
        return self.http.get(f"/{self.name}?uploads").text.count("<UploadId>")

    def header(self, key: str, name: str) -> str:
        return self.http.head(f"/{self.name}/tertulia/{key}").headers[name]


@contextmanager
def s3_service(folder: Path) -> Iterator[str]:
    """Its address."""
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = ChildProcess(command, folder / "s3.log")
    process.start()
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not _answers(address):
            assert process.is_alive(), (folder / "s3.log").read_text()
            assert time.monotonic() < deadline, "the S3 service does not answer"
            time.sleep(0.05)
        yield address
    finally:
        process.stop()


def settings_of(bucket: Bucket) -> Settings:
    return Settings(**bucket.settings)  # type: ignore[arg-type]


def _answers(address: str) -> bool:
    try:
        httpx.get(address, trust_env=False)
    except httpx.TransportError:
        return False
    return True
