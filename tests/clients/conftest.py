"""Existing clients against a server of their own, whose heart beats fast, so that being idle takes a second and not a minute.

What these tests find is docs/reference/clients.md: `acceptance` writes it when all of them have run.
"""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.clients import acceptance, environments
from tests.clients.front import Front
from tests.clients.program import Calls
from tests.harness.server import OwnServer, Server, User
from tests.harness.staging import backstage as backstage
from tests.harness.staging import stage as stage

FAST_HEART = {"TERTULIA_HEARTBEAT_SECONDS": "0.5", "TERTULIA_HEARTBEAT_JITTER_SECONDS": "0"}


@pytest.fixture(scope="session")
def server() -> Iterator[OwnServer]:
    with TemporaryDirectory(prefix="tertulia-clients-", ignore_cleanup_errors=True) as path:
        own = OwnServer.start(Path(path), env=FAST_HEART)
        try:
            yield own
        finally:
            code = own.stop()
        assert code == 0, f"`tertulia dev` ended with code {code}"


@pytest.fixture(scope="session")
def address(server: Server) -> str:
    """As a person would write it who knows no name for this machine."""
    return address_of(server)


def address_of(server: Server) -> str:
    return server.url.replace("localhost", "127.0.0.1")


@pytest.fixture
def front(address: str) -> Iterator[Front]:
    with Front(address) as front:
        yield front


@pytest.fixture(scope="session")
def bots() -> Path:
    return _available(environments.programs_of_bots)


@pytest.fixture(scope="session")
def apprise() -> Path:
    return _available(environments.programs_of_apprise)


@pytest.fixture(scope="session")
def terminal() -> Path:
    return _available(environments.programs_of_terminal)


@pytest.fixture(scope="session")
def node() -> Path:
    return _available(environments.node_modules)


def _available(make: Callable[[], Path]) -> Path:
    """On a developer's machine what is missing is passed over; in CI it would hide a hole."""
    try:
        return make()
    except environments.Missing as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"not on this machine: {error}")


@pytest.fixture
def library(bots: Path, address: str, folder: Path) -> Iterator[Callable[[User], Calls]]:
    """PyPI's `zulip` as that user."""
    with ExitStack() as stack:
        yield lambda user: stack.enter_context(Calls(bots, address, user.email, user.api_key, folder))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    acceptance.note(item, report)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    acceptance.finish(session)
