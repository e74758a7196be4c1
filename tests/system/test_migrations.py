"""`tertulia migrate` beside a server that runs, and what a program says to a database that is not for it."""

import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import psycopg2
import pytest

from tertulia.engines import free_port
from tertulia.kernel.form import own_form
from tertulia.migrations import FOLDER, OlderPrograms, migrate, pending
from tests.harness.forwarder import Forwarder
from tests.harness.server import is_ready
from tests.harness.talk import eventually
from tests.system.relay_site import Site, make_site, relay_postgres, site

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system

NEXT = '''"""{what}"""

from tertulia.migrations.steps import run, run_alone

revision = "{form}"
down_revision = "{before}"
branch_labels = None
depends_on = None
works_with = "{works_with}"


def upgrade() -> None:
    {step}
'''


class Later:
    """The migrations of a later version, and a database that has those of this one."""

    def __init__(self, site: Site, folder: Path) -> None:
        self._url = site.postgres_url
        self.folder = folder
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        self.newest = max(path.name[:4] for path in (folder / "versions").glob("[0-9]*.py"))
        self.works_with = self.newest

    def add(self, step: str, *, works_with: str | None = None, **constants: object) -> str:
        form = f"{int(self.newest) + 1:04}"
        text = NEXT.format(
            what="A later change.", form=form, before=self.newest, works_with=works_with or self.works_with, step=step
        )
        text += "".join(f"\n{name} = {value!r}\n" for name, value in constants.items())
        (self.folder / "versions" / f"{form}_later.py").write_text(text)
        self.newest = form
        return form

    def migrate(self, tell: Callable[[str], None] = lambda _text: None, *, beside_older: bool = False) -> None:
        migrate(self._url, folder=self.folder, tell=tell, beside_older=beside_older)

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        with closing(psycopg2.connect(self._url)) as connection, connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


@pytest.fixture
def later(site: Site, tmp_path: Path) -> Later:
    return Later(site, tmp_path / "migrations")


def test_an_index_is_made_outside_of_a_transaction_and_a_second_time_does_no_harm(later: Later) -> None:
    later.add("run('alter table account add column nickname text')")
    later.add("run_alone(['create index concurrently if not exists account_nickname on account (nickname)'])")
    later.migrate()
    assert later.ask("select indisvalid from pg_index where indexrelid = 'account_nickname'::regclass") == [(True,)]
    assert later.ask("select version_num from schema_version") == [(later.newest,)]
    later.migrate()


def test_a_step_that_somebody_is_in_the_way_of_gives_up_soon_and_is_tried_again(site: Site, later: Later) -> None:
    later.add("run('alter table account add column nickname text')")
    said: list[str] = []
    with closing(psycopg2.connect(site.postgres_url)) as holder, holder.cursor() as cursor:
        cursor.execute("select from account limit 1")

        def let_go(text: str) -> None:
            said.append(text)
            holder.rollback()

        later.migrate(let_go)
    assert said == ["somebody holds a lock that the next step needs; trying again"]
    assert later.ask("select version_num from schema_version") == [(later.newest,)]


def test_a_database_remembers_which_programs_still_work_with_it(site: Site, later: Later) -> None:
    own = later.newest
    added = later.add("run('alter table account add column nickname text')")
    later.migrate()
    assert later.ask("select form from oldest_program") == [(own,)]
    assert "The database has the form of this program." in site.run_command("migrate")
    later.add("run('alter table account drop column timezone')", works_with=added)
    later.migrate()
    assert later.ask("select form from oldest_program") == [(added,)]


def test_system_groups_of_an_earlier_import_get_the_settings_that_others_have(site: Site, later: Later) -> None:
    site.run_command("realm", "create", "Ours")
    columns = ["add_members", "join", "leave", "manage", "mention", "remove_members"]
    settings = [f"can_{name}_group" for name in columns]
    given = f"select id, {', '.join(settings)} from user_group where is_system order by id"
    before = later.ask(given)
    assert len(before) > 5
    assert not any(value is None for row in before for value in row)
    empty = ", ".join(f"{name} = null" for name in settings)
    later.ask(f"update user_group set {empty} where is_system and name <> 'role:nobody' returning id")
    later.ask("update schema_version set version_num = '0020' returning 1")
    site.run_command("migrate")
    assert later.ask(given) == before


def test_an_empty_database_is_told_what_will_be_done(site: Site) -> None:
    with closing(psycopg2.connect(site.postgres_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute("create database nothing_yet")
    empty = {"TERTULIA_POSTGRES_URL": site.postgres_url.rpartition("/")[0] + "/nothing_yet"}
    promised = site.run_command("migrate", "--check", **empty)
    first, *others = promised.splitlines()
    assert first == "0001  The database of the first release. (a moment)"
    assert [line[:4] for line in others] == [f"{number:04}" for number in range(2, int(own_form()) + 1)]
    assert site.run_command("migrate", **empty) == promised + "Done.\n"
    assert site.run_command("migrate", "--check", **empty) == "The database has the form of this program.\n"


def test_what_a_step_does_to_which_table_and_for_how_long_is_told_before(site: Site, later: Later) -> None:
    own, [(oldest,)] = later.newest, later.ask("select form from oldest_program")
    added = later.add("run(SQL)", SQL="alter table account add column nickname text;", works_with=str(oldest))
    index = "create index concurrently if not exists account_nickname on account (nickname);"
    later.add("run_alone(REPEATABLE)", REPEATABLE=[index], works_with=str(oldest))
    later.add("run(SQL)", SQL="alter table account drop column timezone;", works_with=added)
    later.ask("update pg_class set reltuples = 1e6 where relname = 'account' returning 1")
    steps = pending(site.postgres_url, folder=later.folder)
    assert [(step.form, step.duration, step.locks, step.ends) for step in steps] == [
        (added, "a moment", True, ""),
        (f"{int(own) + 2:04}", "a moment", False, ""),
        (later.newest, "a moment", True, added),
    ]
    assert {(table.name, table.rows, table.bytes > 0) for step in steps for table in step.tables} == {
        ("account", 1_000_000, True)
    }


@pytest.mark.parametrize("process", ["web", "relay", "worker"])
def test_a_process_does_not_start_on_a_database_that_is_not_for_it(site: Site, later: Later, process: str) -> None:
    later.ask("update schema_version set version_num = '0000' returning 1")
    assert "run `tertulia migrate` with this program" in site.run_command(process)
    later.ask("update schema_version set version_num = '9999' returning 1")
    later.ask("update oldest_program set form = '9998' returning 1")
    assert "this program is too old" in site.run_command(process)


@pytest.mark.parametrize("process", ["web", "relay", "worker"])
def test_a_database_that_answers_late_is_looked_at_as_well(site: Site, later: Later, process: str) -> None:
    """PostgreSQL is silent when the process starts. It answers on its port at once, and ends as soon as it knows."""
    later.ask("update schema_version set version_num = '0000' returning 1")
    metrics = free_port()
    with Forwarder(site.postgres_url) as way:
        way.freeze()
        settings = {"TERTULIA_POSTGRES_URL": way.url, "TERTULIA_METRICS_PORT": str(metrics), "TERTULIA_PORT": "0"}
        started = site.start_process(process, **settings)
        eventually(lambda: said(metrics).startswith("waiting for"), 90)
        time.sleep(6)  # longer than PostgreSQL has to greet
        assert started.is_alive()
        way.thaw()
        assert started.wait(60), "it goes on with a database that is not for it"
    assert started.exit_code == 1
    told = (site.folder / f"{process}.log").read_text().splitlines()[-1]
    assert told.startswith("tertulia: This does not run: the database has form 0000")


def test_a_web_process_is_not_ready_any_more_when_its_database_was_contracted(site: Site, later: Later) -> None:
    metrics = free_port()
    site.start_process("relay")
    site.start_process("web", TERTULIA_METRICS_PORT=str(metrics), TERTULIA_PORT="0")
    eventually(lambda: is_ready(f"http://127.0.0.1:{metrics}"), 90)
    added = later.add("run('alter table account add column nickname text')")
    later.migrate()
    assert is_ready(f"http://127.0.0.1:{metrics}")
    later.add("run('alter table account drop column nickname')", works_with=added)
    with pytest.raises(OlderPrograms, match=f"connections of programs for form {own_form()}: bring all processes"):
        later.migrate()
    assert is_ready(f"http://127.0.0.1:{metrics}")
    later.migrate(beside_older=True)
    assert "this program is too old" in said(metrics)


def said(port: int) -> str:
    """What a process waits for."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/ready", trust_env=False, timeout=5).text
    except httpx.TransportError:
        return ""
