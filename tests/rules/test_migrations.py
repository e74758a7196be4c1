"""Migrations are only added, and each is safe while the version before still runs."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

import tertulia.migrations.versions
from tertulia.kernel.form import Standing, WrongForm, check, own_form
from tests.rules.migration_lint import faults, faults_of

FOLDER = Path(tertulia.migrations.versions.__path__[0])
NAMES = sorted(path.stem for path in FOLDER.glob("[0-9]*.py"))


def test_forms_are_numbered_without_a_gap() -> None:
    assert [name[:4] for name in NAMES] == [f"{number:04}" for number in range(1, len(NAMES) + 1)]
    assert own_form() == NAMES[-1][:4]


def test_every_migration_after_the_first_release_is_safe_under_the_version_before() -> None:
    greatest = "0001"
    for name in NAMES[1:]:
        module = importlib.import_module(f"tertulia.migrations.versions.{name}")
        assert faults_of(module, greatest) == [], name
        greatest = max(greatest, module.works_with)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("alter table message add column y text not null;", "adding-required-field"),
        ("create index on message (seq);", "require-concurrent-index-creation"),
        ("create index concurrently on message (seq); select 1;", "ban-concurrent-index-creation-in-transaction"),
        ("alter table message alter column seq type int;", "changing-column-type"),
        ("alter table message add foreign key (seq) references account;", "adding-foreign-key-constraint"),
        ("alter table message add check (seq > 0);", "constraint-missing-not-valid"),
        ("alter table message alter column topic_id set not null;", "adding-not-nullable-field"),
        ("alter table message add column z uuid default gen_random_uuid();", "adding-field-with-default"),
        ("alter table account drop column timezone;", "ban-drop-column"),
        ("drop table reaction;", "ban-drop-table"),
        ("alter table account rename column email to mail;", "renaming-column"),
        ("update message set client = '';", "in batches"),
        ("delete from message where id < 5;", "in batches"),
    ],
)
def test_what_would_stop_or_break_a_running_server_is_refused(sql: str, reason: str) -> None:
    assert reason in " ".join(faults(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "alter table message add column y text;",
        "alter table message add column y boolean not null default false;",
        "alter table message add constraint later check (seq > 0) not valid;",
        "create table pin (message_id bigint primary key, pinned_at timestamptz not null);",
    ],
)
def test_what_only_adds_is_allowed(sql: str) -> None:
    assert faults(sql) == []


def migration(**values: object) -> SimpleNamespace:
    return SimpleNamespace(**{"revision": "0003", "works_with": "0001", **values})


def test_something_is_taken_away_only_by_a_migration_that_ends_older_programs() -> None:
    away = "alter table account drop column timezone;"
    assert "ban-drop-column" in " ".join(faults_of(migration(SQL=away), "0001"))  # type: ignore[arg-type]
    assert faults_of(migration(SQL=away, works_with="0002"), "0001") == []  # type: ignore[arg-type]
    assert faults_of(migration(SQL=away, works_with="0004"), "0001")  # type: ignore[arg-type]


def test_what_stands_alone_has_a_reason_to() -> None:
    index = "create index concurrently if not exists message_client on message (client);"
    assert faults_of(migration(REPEATABLE=[index]), "0001") == []  # type: ignore[arg-type]
    assert faults_of(migration(REPEATABLE=["alter table message add column y text;"]), "0001")  # type: ignore[arg-type]
    assert faults_of(migration(), "0001")  # type: ignore[arg-type]


def test_a_program_works_with_its_own_form_and_with_newer_ones_that_say_so() -> None:
    check("0003", Standing("0003", "0001"))
    check("0003", Standing("0005", "0003"))


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (None, "the database is empty: run `tertulia migrate`"),
        (Standing("0002", "0001"), "run `tertulia migrate` with this program"),
        (Standing("0005", "0004"), "Start the version that migrated it, or restore a backup"),
    ],
)
def test_a_program_refuses_a_database_that_it_does_not_work_with(found: Standing | None, advice: str) -> None:
    with pytest.raises(WrongForm) as refused:
        check("0003", found)
    assert advice in str(refused.value)
