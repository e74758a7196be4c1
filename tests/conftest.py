"""What every test shares: coroutine tests and fixtures run on asyncio, through the plugin that comes with anyio.

`server` is a whole Tertulia, started once for the session; or the running one at TERTULIA_TEST_URL (see bin/contract), or
the one whose line of JSON is in the file TERTULIA_TEST_SERVER. `own_server` is one for this test alone, to be mistreated;
`engines` are a PostgreSQL and a nats-server without any of our processes; `folder` is an empty folder for one test.
"""

import functools
import inspect
import os
import shlex
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import httpx
import hypothesis
import pytest
from httpx._transports import default as _transports

from tertulia.engines import Nats, Postgres, find_nats_server, find_postgres
from tertulia.kernel.settings import load_settings
from tests.harness.elsewhere import Unfit, ready_at
from tests.harness.in_memory import use_memory
from tests.harness.server import Engines, OwnServer, Server

use_memory()
# How long an example takes says how busy the machine is, and nothing of what is tested.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")

# Each client of httpx would read the certificates of the world, which takes longer than most of what is asked.
_transports.create_ssl_context = functools.cache(httpx.create_ssl_context)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    with _kept_after_failure(request.session) as path:
        yield path


@pytest.fixture(scope="module")
def shared_folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder for the tests of one file."""
    with _kept_after_failure(request.session) as path:
        yield path


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if url := os.environ.get("TERTULIA_TEST_URL"):
        try:
            ready = ready_at(url, os.environ.get("TERTULIA_TEST_OWNER", ""))
        except (Unfit, httpx.HTTPError) as problem:
            pytest.exit(f"{url}: {problem}", returncode=2)
        yield Server(ready)
        return
    if file := os.environ.get("TERTULIA_TEST_SERVER"):
        yield Server.running(Path(file))
        return
    with _kept_after_failure(request.session) as path:
        own = OwnServer.start(path)
        try:
            yield own
        finally:
            code = own.stop()
        assert code == 0, f"`tertulia dev` ended with code {code}; see {path}"


@pytest.fixture
def own_server(folder: Path) -> Iterator[OwnServer]:
    own = OwnServer.start(folder)
    try:
        yield own
    finally:
        own.stop()


@pytest.fixture(scope="session")
def engines(request: pytest.FixtureRequest) -> Iterator[Engines]:
    """Fresh and empty: nothing is migrated, no stream exists. One pair for the session."""
    settings = load_settings()
    with (
        _kept_after_failure(request.session) as path,
        Postgres(find_postgres(settings), path / "postgres") as postgres,
        Nats(find_nats_server(settings), path / "nats", sync_seconds=settings.nats_sync_seconds) as nats,
    ):
        yield Engines(postgres, nats)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure says how to repeat it, and where the logs of the server are."""
    report = yield
    if report.failed:
        report.sections.append(("repeat it with", _repeating(item)))
        for name in ("server", "own_server", "folder", "shared_folder"):
            value = getattr(item, "funcargs", {}).get(name)
            place = value if isinstance(value, Path) else getattr(value, "folder", None)
            if place is not None:
                report.sections.append(("data and logs", str(place)))
    return report


def _repeating(item: pytest.Item) -> str:
    """The command that runs this test alone, drawing what it drew by chance."""
    kept = {"TERTULIA_POSTGRES_BIN": "wheel", "TERTULIA_HISTORIES": None}
    words = [f"{name}={os.environ[name]}" for name, usual in kept.items() if os.environ.get(name, usual) != usual]
    function = item.obj if isinstance(item, pytest.Function) else None
    if item.get_closest_marker("finding") and (seed := getattr(inspect.getmodule(function), "SEED", None)) is not None:
        words.append(f"TERTULIA_SEED={seed}")
    words += ["bin/test", shlex.quote(item.nodeid)]
    if hypothesis.is_hypothesis_test(function):
        # Where the seed is not drawn but made of the code, as Hypothesis does in CI, there is none to give.
        drawn = getattr(function, "_hypothesis_internal_use_generated_seed", None)
        words = [*words, f"--hypothesis-seed={drawn}"] if drawn is not None else ["CI=true", *words]
    return " ".join(words)


@contextmanager
def _kept_after_failure(session: pytest.Session) -> Iterator[Path]:
    """A temporary folder that stays when a test failed that had it: the logs in it tell why."""
    path = Path(mkdtemp(prefix="tertulia-test-"))
    failed_before = session.testsfailed
    yield path
    if session.testsfailed == failed_before:
        shutil.rmtree(path, ignore_errors=True)
