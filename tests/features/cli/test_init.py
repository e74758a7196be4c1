"""`tertulia init` as an operator calls it who keeps units and accounts themselves; test_install.py has the rest."""

import json
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import psycopg2
import pytest

from tertulia.cli.init import system
from tests.harness.command import said_once, tertulia
from tests.harness.server import Engines

HOST, OWNER = "chat.example.com", "ines@example.com"
LINK = re.compile(rf"https://{re.escape(HOST)}/accounts/password/reset/[\w-]+\n")
PASSWORD = "seven copper kettles sing"


class Operator:
    """Somebody with a superuser of PostgreSQL, and a folder for settings."""

    def __init__(self, engines: Engines, folder: Path, database: str) -> None:
        self.admin, self.nats_url = engines.postgres.url_of("postgres"), engines.nats.url
        self.folder, self.database = folder, database
        self.file = folder / "tertulia.toml"

    def init(self, *more: str, host: str = HOST, admin: str | None = None) -> CompletedProcess[str]:
        where = ["--no-system", "--folder", str(self.folder), "--database", self.database]
        return tertulia("init", host, OWNER, *where, "--postgres-admin", admin or self.admin, *more)

    def sql(self, statement: str) -> None:
        with closing(psycopg2.connect(self.admin)) as connection:
            connection.autocommit = True
            connection.cursor().execute(statement)


@pytest.fixture
def operator(engines: Engines, tmp_path: Path) -> Iterator[Operator]:
    operator = Operator(engines, tmp_path / "settings", f"init_{secrets.token_hex(4)}")
    yield operator
    operator.sql(f"drop database if exists {operator.database} with (force)")
    operator.sql(f"drop role if exists {operator.database}")


def test_settings_secrets_and_a_link_are_made_once_and_kept(operator: Operator) -> None:
    first = operator.init()
    assert first.returncode == 0, first.stderr
    assert LINK.fullmatch(first.stdout), "the link is alone on standard output"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in operator.folder.iterdir()} == {
        "tertulia.toml": 0o600,
        "sealing.keys": 0o600,
        "nats.conf": 0o600,
    }
    texts = {path: path.read_text() for path in operator.folder.iterdir()}
    again = operator.init("--json")
    told = json.loads(again.stdout)
    assert LINK.fullmatch(told["link"] + "\n"), "nobody has used the first one"
    assert told["config"] == str(operator.file)
    assert {path: path.read_text() for path in operator.folder.iterdir()} == texts
    env = {"TERTULIA_CONFIG": str(operator.file), "TERTULIA_USER_PASSWORD": PASSWORD}
    assert tertulia("user", "reset-password", OWNER, env=env).returncode == 0
    third = operator.init()
    assert (third.returncode, third.stdout) == (0, ""), "a link would end the owner's password"
    assert "The owner has a password already" in third.stderr
    other = operator.init(host="talk.example.com")
    assert "is there already, for chat.example.com" in said_once(other)
    assert {path: path.read_text() for path in operator.folder.iterdir()} == texts


def test_without_an_owner_the_link_begins_the_organization(operator: Operator) -> None:
    where = ["--no-system", "--folder", str(operator.folder), "--database", operator.database]
    links = []
    for _ in range(2):
        done = tertulia("init", HOST, *where, "--postgres-admin", operator.admin)
        assert done.returncode == 0, done.stderr
        links.append(done.stdout)
    assert all(re.fullmatch(rf"https://{re.escape(HOST)}/#begin/[\w-]{{43}}\n", link) for link in links)
    assert links[0] != links[1], "the last one counts"
    env = {"TERTULIA_CONFIG": str(operator.file), "TERTULIA_USER_PASSWORD": PASSWORD}
    assert tertulia("user", "create", OWNER, "--name", "Ines", "--role", "owner", env=env).returncode == 0
    third = tertulia("init", HOST, *where, "--postgres-admin", operator.admin)
    assert (third.returncode, third.stdout) == (0, ""), "somebody is there"


def test_a_role_of_somebody_else_is_left_alone(operator: Operator) -> None:
    operator.sql(f"create role {operator.database} login password 'theirs'")
    assert "has a role or a database" in said_once(operator.init())
    assert not operator.file.exists()


def test_what_stopped_half_way_goes_on_and_a_wrong_password_is_told(operator: Operator) -> None:
    assert operator.init().returncode == 0
    operator.sql(f"drop database {operator.database} with (force)")
    assert LINK.fullmatch(operator.init().stdout), "the database is made again, with what the file says"
    operator.file.write_text(re.sub(r"(postgres_url = .*:)\w+@", r"\1guess@", operator.file.read_text()))
    line = operator.init().stderr.splitlines()[-1]
    assert "does not let it in" in line
    assert "password authentication failed" in line


def test_without_postgresql_nothing_is_written(operator: Operator) -> None:
    line = said_once(operator.init(admin="postgresql://postgres@127.0.0.1:1/postgres"))
    assert "is it running" in line
    assert not operator.folder.exists()


def test_a_nats_that_is_away_is_told_and_waited_for(operator: Operator) -> None:
    done = operator.init("--nats-url", "nats://127.0.0.1:1")
    assert LINK.fullmatch(done.stdout)
    assert "WARNING NATS: " in done.stderr
    assert not (operator.folder / "nats.conf").exists()


@pytest.mark.parametrize(("host", "owner"), [("https://chat.example.com", OWNER), (HOST, "ines")])
def test_what_is_no_host_and_no_address_is_refused(tmp_path: Path, host: str, owner: str) -> None:
    done = tertulia("init", host, owner, "--no-system", "--folder", str(tmp_path / "new"))
    assert re.search("without https://|no email address", said_once(done))
    assert not (tmp_path / "new").exists()


def test_without_systemd_the_units_are_laid_down_and_it_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("UNITS", "_CADDY", "_NGINX"):
        monkeypatch.setattr(system, name, folder / name)
    monkeypatch.setenv("PATH", str(folder))
    steps = system.System(folder, HOST, standalone=True).install(has_own_nats=True, must_restart=False)
    assert steps == ["systemctl restart tertulia"]
    assert {path.name for path in (folder / "UNITS").iterdir()} == {"tertulia.service", "tertulia.socket"}
    assert "no systemd here" in "".join(capsys.readouterr())
