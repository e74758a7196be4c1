"""`tertulia migrate` beside a server that runs, and what a program says to a database that is not for it."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tertulia.migrations import FOLDER, migrate
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
        self._folder = folder
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        self.newest = max(path.name[:4] for path in (folder / "versions").glob("[0-9]*.py"))
        self.works_with = self.newest

    def add(self, step: str, *, works_with: str | None = None) -> str:
        form = f"{int(self.newest) + 1:04}"
        text = NEXT.format(
            what="A later change.", form=form, before=self.newest, works_with=works_with or self.works_with, step=step
        )
        (self._folder / "versions" / f"{form}_later.py").write_text(text)
        self.newest = form
        return form

    def migrate(self, tell: Callable[[str], None] = lambda _text: None) -> None:
        migrate(self._url, folder=self._folder, tell=tell)

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


def test_an_empty_database_is_told_what_will_be_done(site: Site) -> None:
    with closing(psycopg2.connect(site.postgres_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute("create database nothing_yet")
    empty = {"TERTULIA_POSTGRES_URL": site.postgres_url.rpartition("/")[0] + "/nothing_yet"}
    promised = site.run_command("migrate", "--check", **empty)
    assert promised == "0001  The database of the first release. (a moment)\n"
    assert site.run_command("migrate", **empty) == promised + "Done.\n"
    assert site.run_command("migrate", "--check", **empty) == "The database has the form of this program.\n"


@pytest.mark.parametrize("process", ["web", "relay", "worker"])
def test_a_process_does_not_start_on_a_database_that_is_not_for_it(site: Site, later: Later, process: str) -> None:
    later.ask("update schema_version set version_num = '0000' returning 1")
    assert "run `tertulia migrate` with this program" in site.run_command(process)
    later.ask("update schema_version set version_num = '9999' returning 1")
    later.ask("update oldest_program set form = '9998' returning 1")
    assert "this program is too old" in site.run_command(process)
