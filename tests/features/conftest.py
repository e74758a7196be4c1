"""Fixtures of feature tests on a running server: a stage to make things on, and a second web process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tertulia.kernel.settings import Settings
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Stage, Web
from tests.harness.staging import backstage as backstage
from tests.harness.staging import stage as stage

HEARTBEAT_SECONDS = 0.5


@pytest.fixture
def realm(stage: Stage) -> Realm:
    """With one user of each role."""
    return Realm(stage)


@pytest.fixture(scope="session")
def second(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A second web process of the same server. Its heart beats fast."""
    web = Web(
        server,
        tmp_path_factory.mktemp("second"),
        heartbeat_seconds=HEARTBEAT_SECONDS,
        heartbeat_jitter_seconds=0,
    )
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture(scope="session")
def other_web(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web process with other rules: open to the web; files of 1 MiB, and 2 MiB of them from each organization;
    with a server for calls; and passwords cost what they cost outside of tests."""
    web = Web(
        server,
        tmp_path_factory.mktemp("other"),
        web_public_streams_enabled="true",
        max_file_upload_size_mib=1,
        upload_quota_mib=2,
        upload_share_percent=100,
        jitsi_server_url="https://meet.example.net/",
        password_memory_mib=Settings().password_memory_mib,
    )
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def passing_web(server: Server, folder: Path) -> Iterator[Web]:
    """A web process of this test alone, to be killed."""
    web = Web(server, folder)
    try:
        yield web.wait()
    finally:
        web.kill()


@pytest.fixture
def folder_of_mails(server: Server) -> Path:
    if not isinstance(server, OwnServer):
        pytest.skip("mails can be read only where the server runs")
    return server.folder / "data" / "mail"
