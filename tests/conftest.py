"""What every test shares: coroutine tests and fixtures run on asyncio, through the plugin that comes with anyio.

`server` is a whole Tertulia, started once for the session; `engines` are a PostgreSQL and a nats-server without any of
our processes; `folder` is an empty folder for one test.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tertulia.engines import Nats, Postgres, find_nats_server, find_postgres
from tertulia.kernel.settings import load_settings


class Engines(NamedTuple):
    postgres: Postgres
    nats: Nats


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="tertulia-test-") as name:
        yield Path(name)


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    """Fresh and empty: nothing is migrated, no stream exists. One pair for the session."""
    settings = load_settings()
    with (
        TemporaryDirectory(prefix="tertulia-test-") as name,
        Postgres(find_postgres(settings), Path(name, "postgres")) as postgres,
        Nats(find_nats_server(settings), Path(name, "nats"), sync_seconds=settings.nats_sync_seconds) as nats,
    ):
        yield Engines(postgres, nats)
