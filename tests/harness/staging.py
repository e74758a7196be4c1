"""The fixtures that every suite on a stage takes: its conftest imports them, and they stand on its own `server`."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage


@pytest.fixture(scope="session")
def backstage(server: Server) -> Iterator[Backstage]:
    with closing(Backstage(server)) as backstage:
        yield backstage


@pytest.fixture
def stage(server: Server, backstage: Backstage) -> Iterator[Stage]:
    with closing(Stage(server, backstage)) as stage:
        yield stage
