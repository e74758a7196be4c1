"""What goes wrong in an expected way is one line, and what would do harm by mistake is refused."""

import json
import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tertulia.engines.secret import secret_in
from tertulia.kernel.private_files import write_private
from tests.harness.command import said_once, tertulia
from tests.harness.server import Engines, OwnServer, Server

WRONG = "password authentication failed"


@pytest.mark.parametrize(
    "command",
    [["migrate"], ["user", "create", "a@example.com", "--name", "Ada"], ["web"], ["worker"]],
    ids=lambda one: one[0],
)
def test_a_wrong_password_is_one_line(server: Server, command: list[str]) -> None:
    secret = server.postgres_url.split("@")[0].rpartition(":")[2]
    env = {"TERTULIA_POSTGRES_URL": server.postgres_url.replace(secret, "guess"), "TERTULIA_NATS_URL": server.nats_url}
    line = said_once(tertulia(*command, env=env | {"TERTULIA_PORT": "0"}))
    assert line.startswith("tertulia: PostgreSQL: ")
    assert WRONG in line
    assert "TERTULIA_POSTGRES_URL" in line


def test_a_database_without_tables_is_one_line(engines: Engines) -> None:
    url = engines.postgres.url_of("postgres")
    line = said_once(tertulia("realm", "create", "Ours", env={"TERTULIA_POSTGRES_URL": url}))
    assert "run `tertulia migrate`" in line


def test_a_missing_extension_is_one_line(engines: Engines) -> None:
    name = f"bare_{os.getpid()}"
    with closing(psycopg2.connect(engines.postgres.url_of("postgres"))) as connection:
        if connection.server_version < 180_000:
            pytest.skip("only PostgreSQL 18 lets one hide extensions")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f"create database {name}")
            cursor.execute(f"alter database {name} set extension_control_path = '/nowhere'")
            try:
                env = {"TERTULIA_POSTGRES_URL": engines.postgres.url_of(name), "TERTULIA_NATS_URL": engines.nats.url}
                done = tertulia("migrate", env=env)
                [line] = done.stderr.splitlines()
                assert done.returncode == 1
                assert 'extension "pg_trgm" is not available' in line
                assert "contrib" in line
                assert "the extension pg_trgm is not installed" in tertulia("doctor", env=env).stdout
            finally:
                cursor.execute(f"drop database {name} with (force)")


def test_a_port_in_use_is_one_line(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        for command in ("web", "serve"):
            line = said_once(tertulia(command, env={"TERTULIA_PORT": str(port)}))
            assert f"port {port} of 127.0.0.1 cannot be opened" in line
        engines = {"TERTULIA_POSTGRES_URL": server.postgres_url, "TERTULIA_NATS_URL": server.nats_url}
        line = said_once(tertulia("worker", env=engines | {"TERTULIA_METRICS_PORT": str(port)}))
        assert f"127.0.0.1:{port}" in line


def test_a_variable_that_is_no_setting_is_told(server: Server) -> None:
    env = {"TERTULIA_POSTGRES_URL": server.postgres_url, "TERTULIA_POOLSIZE": "5"}
    told = "TERTULIA_POOLSIZE is no setting, and has no effect; is TERTULIA_POOL_SIZE meant?"
    done = tertulia("scim-token", "list", env=env)
    assert (done.returncode, done.stderr) == (0, f"tertulia: {told}\n")
    wrong = env | {"TERTULIA_POSTGRES_URL": server.postgres_url.replace("//tertulia:", "//nobody:")}
    first, _ = tertulia("worker", env=wrong).stderr.splitlines()
    assert json.loads(first)["problem"] == told


def test_large_data_goes_into_no_database_but_that_of_trying_it_out(server: Server, tmp_path: Path) -> None:
    fill = ("dev", "fill", "--users", "3")
    env = {"TERTULIA_POSTGRES_URL": server.postgres_url, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    elsewhere = ("--data", str(tmp_path / "nothing"))
    refused = tertulia(*fill, *elsewhere, env=env)
    assert "No `tertulia dev` runs in" in said_once(refused)
    file = tmp_path / "tertulia.toml"
    file.write_text(f'postgres_url = "{server.postgres_url}"\n')
    for configured in (env, {"TERTULIA_CONFIG": str(file)}):
        done: subprocess.CompletedProcess[str] = tertulia(*fill, env=configured)
        assert "No `tertulia dev` runs in" in said_once(done)
    if isinstance(server, OwnServer):
        assert tertulia(*fill, "--data", str(server.folder / "data"), env=env).returncode == 0


def test_a_file_where_a_folder_is_wanted_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert said_once(tertulia("realm", "list", "--data", str(file))).endswith(f"{file}/dev.lock: Not a directory.")
    assert said_once(tertulia("dev", "mails", str(tmp_path))) == f"tertulia: {tmp_path}: Is a directory."


def test_settings_in_another_encoding_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "tertulia.toml"
    file.write_bytes("# für uns".encode("latin-1"))
    line = said_once(tertulia("config", "show", env={"TERTULIA_CONFIG": str(file)}))
    assert line.startswith(f"tertulia: the settings file {file} is not TOML: 'utf-8' codec can't decode")


def test_a_language_of_a_schema_that_is_not_there_is_one_line(server: Server) -> None:
    line = said_once(tertulia("search", "language", "no.such", env={"TERTULIA_POSTGRES_URL": server.postgres_url}))
    assert "does not know the language 'no.such'" in line


def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tertulia", "version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "tertulia: No space left on device.\n")


def test_without_standard_input_and_output_a_command_does_its_work(server: Server, tmp_path: Path) -> None:
    """As some who start programs give them none."""
    command = f"exec {sys.executable} -m tertulia export '' {tmp_path}/all.tar <&- >&- 2>&-"
    env = os.environ | {"TERTULIA_POSTGRES_URL": server.postgres_url}
    assert subprocess.run(["sh", "-c", command], check=False, env=env).returncode == 0
    assert (tmp_path / "all.tar").stat().st_size > 0


NEARLY_FULL = """
import resource, sys
from pathlib import Path
from tertulia.kernel.private_files import write_private
from tertulia.engines.secret import secret_in
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
"""
"""No file has more bytes than these."""


def test_a_file_that_does_not_fit_leaves_the_former_one(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    write_private(file, b"former")
    assert "File too large" in when_nearly_full("write_private(Path(sys.argv[1]), b'new' * 100)", file)
    assert file.read_bytes() == b"former\n"


def test_a_password_that_does_not_fit_is_made_later_and_is_not_empty(tmp_path: Path) -> None:
    file = tmp_path / "password"
    assert "File too large" in when_nearly_full("secret_in(Path(sys.argv[1]))", file)
    made = secret_in(file)
    assert len(made) == 32
    assert secret_in(file) == made
    file.write_text("")  # of a version before
    assert len(secret_in(file)) == 32


def when_nearly_full(work: str, file: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", NEARLY_FULL + work, str(file)], capture_output=True, text=True, check=False
    )
    return done.stderr
