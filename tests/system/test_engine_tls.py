"""PostgreSQL and NATS with TLS: every connection of ours checks the certificate, and none is made without."""

import asyncio
import os
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg
import httpx
import msgspec
import nats
import nats.errors
import psycopg2
import pytest

from tertulia.engines import ChildProcess, Nats, Postgres, find_nats_server, free_port
from tertulia.engines.account import engine_account
from tertulia.events.log.nats_client import NatsClient, PlainNats, nats_options
from tertulia.events.relay.replication import Replication
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings, load_settings
from tertulia.migrations import migrate
from tests.harness.certificates import Authority
from tests.harness.server import is_ready
from tests.harness.talk import eventually

pytestmark = pytest.mark.system

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
"""The programs of the wheel are built without TLS."""


class Guarded(NamedTuple):
    """Engines with TLS, and who vouches for them."""

    postgres: Postgres
    nats_port: int
    good: Authority
    other: Authority

    def postgres_url(self, authority: Path | None, host: str = "localhost", mode: str = "verify-full") -> str:
        url = self.postgres.url.replace("127.0.0.1", host)
        return f"{url}?sslmode={mode}" + (f"&sslrootcert={authority}" if authority else "")

    def settings(self, *, postgres: Authority, nats: Authority, host: str = "localhost") -> Settings:
        return Settings(
            postgres_url=self.postgres_url(postgres.file, host),
            nats_url=f"tls://someone:secret@{host}:{self.nats_port}",
            nats_ca_file=str(nats.file),
        )


@pytest.fixture(scope="module")
def guarded(shared_folder: Path) -> Iterator[Guarded]:
    folder = shared_folder / "tls"
    folder.mkdir()
    good, other = Authority(folder, "good"), Authority(folder, "other")
    certificate, key = good.vouch("server", "localhost")
    if not DEBIAN_15.is_dir():
        pytest.skip("needs a PostgreSQL with TLS: apt-get install postgresql-15 (the .ci/run script does it as root)")
    postgres = Postgres(DEBIAN_15, folder / "postgres")
    with postgres:
        _give_certificate(postgres, certificate, key)
        postgres.restart()
        with _nats_with_tls(folder, certificate, key) as port:
            found = Guarded(postgres, port, good, other)
            migrate(found.postgres_url(good.file))
            yield found


def _give_certificate(postgres: Postgres, certificate: Path, key: Path) -> None:
    account = engine_account()
    for name, file in (("server.crt", certificate), ("server.key", key)):
        copy = postgres.cluster / name
        shutil.copy(file, copy)
        copy.chmod(0o600)
        if account is not None:
            os.chown(copy, account.uid, account.gid)
    local = postgres.cluster / "local.conf"
    local.write_text("ssl = on\n")
    if account is not None:
        os.chown(local, account.uid, account.gid)


@contextmanager
def _nats_with_tls(folder: Path, certificate: Path, key: Path) -> Iterator[int]:
    port = free_port()
    file = folder / "nats.conf"
    file.write_text(
        f'listen: "127.0.0.1:{port}"\nmax_payload: 8388608\n'
        'authorization { user: "someone", password: "secret" }\n'
        f'jetstream {{ store_dir: "{folder}/store", sync_interval: "10s" }}\n'
        f'tls {{ cert_file: "{certificate}", key_file: "{key}" }}\n'
    )
    process = ChildProcess([str(find_nats_server(load_settings())), "--config", str(file)], folder / "nats.log")
    process.start()
    try:
        eventually(lambda: "Server is ready" in (folder / "nats.log").read_text())
        yield port
    finally:
        process.stop(signal.SIGTERM, 10)


@contextmanager
def processes(folder: Path, settings: Settings) -> Iterator[dict[str, str]]:
    """web, relay and worker; where each has its metrics."""
    monitors = {}
    with ExitStack() as stack:
        for name in ("relay", "worker", "web"):
            own = msgspec.structs.replace(
                settings, port=free_port(), metrics_port=free_port(), storage_folder=str(folder), pool_size=2
            )
            command = [sys.executable, "-m", "tertulia", name]
            log = folder / f"{name}-{own.metrics_port}.log"
            stack.enter_context(ChildProcess(command, log, env=os.environ | own.environment()))
            monitors[name] = f"http://127.0.0.1:{own.metrics_port}"
        yield monitors


def test_every_connection_of_a_whole_server_is_encrypted(guarded: Guarded, folder: Path) -> None:
    settings = guarded.settings(postgres=guarded.good, nats=guarded.good)
    with processes(folder, settings) as monitors:
        for url in monitors.values():
            eventually(lambda url=url: is_ready(url), 60)  # type: ignore[misc]
        with psycopg2.connect(guarded.postgres.url) as connection, connection.cursor() as cursor:
            cursor.execute(
                "select backend_type, ssl from pg_stat_activity join pg_stat_ssl using (pid)"
                " where pid <> pg_backend_pid() and datname is not null"
            )
            found = cursor.fetchall()
    assert {kind for kind, _ in found} == {"client backend", "walsender"}
    assert all(is_encrypted for _, is_encrypted in found)


@pytest.mark.parametrize("wrong", ["postgres", "nats"])
def test_a_server_that_another_authority_vouches_for_is_not_used(guarded: Guarded, folder: Path, wrong: str) -> None:
    trusted = {"postgres": guarded.good, "nats": guarded.good, wrong: guarded.other}
    settings = guarded.settings(postgres=trusted["postgres"], nats=trusted["nats"])
    concerned = ["relay", "web", *(["worker"] if wrong == "postgres" else [])]
    with processes(folder, settings) as monitors:
        for name in concerned:
            [log] = folder.glob(f"{name}-{monitors[name].rpartition(':')[2]}.log")
            eventually(lambda log=log: "certificate verify failed" in log.read_text(), 60)  # type: ignore[misc]
            ready = httpx.get(f"{monitors[name]}/health/ready", trust_env=False)
            assert ready.status_code == 503


CASES = ["wrong authority", "wrong name"]


def wrong_settings(guarded: Guarded, case: str) -> Settings:
    if case == "wrong name":
        return guarded.settings(postgres=guarded.good, nats=guarded.good, host="127.0.0.1")
    return guarded.settings(postgres=guarded.other, nats=guarded.other)


@pytest.mark.parametrize("case", CASES)
async def test_the_pool_and_the_lanes_check_the_certificate(guarded: Guarded, case: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await Database.connect(wrong_settings(guarded, case).postgres_url, shards=1)
    with pytest.raises(ssl.SSLCertVerificationError):
        await asyncpg.connect(wrong_settings(guarded, case).postgres_url)


@pytest.mark.parametrize("case", CASES)
async def test_the_relay_checks_the_certificate_of_the_write_ahead_log(guarded: Guarded, case: str) -> None:
    with pytest.raises(psycopg2.OperationalError, match="certificate"):
        await Replication.open(wrong_settings(guarded, case).postgres_url)


@pytest.mark.parametrize("case", CASES)
def test_migrations_check_the_certificate(guarded: Guarded, case: str) -> None:
    with pytest.raises(Exception, match="certificate"):
        migrate(wrong_settings(guarded, case).postgres_url)


@pytest.mark.parametrize("case", CASES)
async def test_the_connection_to_nats_checks_the_certificate(guarded: Guarded, case: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await connect_once(wrong_settings(guarded, case))


@pytest.mark.parametrize("case", CASES)
def test_the_doctor_names_the_certificate(guarded: Guarded, folder: Path, case: str) -> None:
    settings = msgspec.structs.replace(wrong_settings(guarded, case), storage_folder=str(folder))
    done = examine(settings)
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("WRONG")]
    assert [line.split()[1] for line in wrong] == ["PostgreSQL:", "NATS:"]
    assert all("certificate" in line for line in wrong)


def test_the_doctor_is_content_with_certificates_that_are_good(guarded: Guarded, folder: Path) -> None:
    settings = guarded.settings(postgres=guarded.good, nats=guarded.good)
    done = examine(msgspec.structs.replace(settings, storage_folder=str(folder)))
    assert "TLS, certificate checked" in done.stdout
    assert "with TLS, JetStream" in done.stdout
    assert done.returncode == 0, done.stdout


async def test_a_nats_that_does_not_use_tls_is_told_no_password(folder: Path) -> None:
    with Nats(find_nats_server(load_settings()), folder / "nats") as plain:
        url = plain.url.replace("nats://", "tls://")
        # The library by itself goes on without it.
        client = await nats.connect(url)
        assert client.is_connected
        await client.close()
        with pytest.raises(PlainNats):
            await connect_once(Settings(nats_url=url))


async def connect_once(settings: Settings) -> None:
    async def ignore(_: Exception) -> None:
        """Raised as well."""

    client = NatsClient()
    await asyncio.wait_for(client.connect(**nats_options(settings), error_cb=ignore, allow_reconnect=False), 20)


def examine(settings: Settings) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tertulia", "doctor"]
    env = os.environ | settings.environment()
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)
