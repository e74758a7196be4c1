"""The database at one moment: a transaction whose snapshot pg_dump shares, and what each table holds in it.

By PostgreSQL's own library, as pg_dump does it: the same addresses, certificates and hosts. The connection also holds the locks.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

import psycopg2
from psycopg2 import sql

from tertulia.backups.errors import BackupFailed
from tertulia.backups.manifest import Table
from tertulia.content.storage.orphans import BACKUP, OBJECTS_LOCK
from tertulia.kernel.form import UNFINISHED_RESTORE
from tertulia.kernel.postgres import connect_libpq
from tertulia.migrations import MIGRATION_LOCK

CONNECT_SECONDS = 10
LOCK_SECONDS = 60
_ALONE = 1
"""A key of OBJECTS_LOCK: who makes, prunes or restores."""

# What digests are made of looks the same on every server.
_SESSION = """
set application_name = 'tertulia backup'; set statement_timeout = 0; set lock_timeout = 0;
set idle_in_transaction_session_timeout = 0; set timezone = 'UTC'; set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres';
set bytea_output = 'hex'; set extra_float_digits = 1; set jit = off; set xmloption = content; set lc_monetary = 'C'
"""
_TABLES = """
select relation.oid::regclass::text, nspname, relname,
    array(select attname::text from pg_attribute
        where attrelid = relation.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attname)
from pg_class relation join pg_namespace on pg_namespace.oid = relnamespace
where relkind = 'r' and nspname !~ '^pg_' and nspname <> 'information_schema'
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = relation.oid and deptype = 'e')
order by nspname, relname
"""


class Taken(NamedTuple):
    """A snapshot that others may share while its transaction lasts."""

    id: str
    moment: datetime
    form: str


class DatabaseSession:
    """One connection, with whatever it holds."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @property
    def major(self) -> int:
        """Version of the server."""
        return int(self.connection.server_version // 10_000)

    def ask(self, statement: Any, *values: object) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall()) if cursor.description else []

    def lock_alone(self) -> None:
        """Nobody else makes, prunes or restores on this database, as long as the connection is open."""
        [(got,)] = self.ask("select pg_try_advisory_lock(%s, %s)", OBJECTS_LOCK, _ALONE)
        if not got:
            raise BackupFailed("Another backup, prune or restore of this database is running. Wait until it has ended.")

    def hold_still(self) -> None:
        """Until the connection ends nobody migrates, and no object is deleted."""
        [(got,)] = self.ask("select pg_try_advisory_lock_shared(%s)", MIGRATION_LOCK)
        if not got:
            raise BackupFailed("The database is being migrated. Try again when `tertulia migrate` has ended.")
        self.ask(f"set lock_timeout = '{LOCK_SECONDS}s'")
        try:
            self.ask("select pg_advisory_lock(%s, %s)", OBJECTS_LOCK, BACKUP)
        except psycopg2.errors.LockNotAvailable as error:
            raise BackupFailed(
                f"A worker has been deleting files for more than {LOCK_SECONDS} s: does the storage answer? Try again later."
            ) from error
        self.ask("set lock_timeout = 0")

    def take(self) -> Taken:
        """Begin a transaction whose snapshot can be shared."""
        if not self.ask("select to_regclass('schema_version') where to_regclass('oldest_program') is not null"):
            raise BackupFailed("The database is empty: `tertulia migrate` has not run.")
        self.ask("begin isolation level repeatable read, read only")
        query = "select pg_export_snapshot(), clock_timestamp(), (select version_num from schema_version)"
        [(snapshot, moment, form)] = self.ask(query)
        return Taken(snapshot, moment, form)

    def let_go(self) -> None:
        """End the transaction; locks stay."""
        self.ask("rollback")

    def tables(self, snapshot: str = "") -> Iterator[tuple[str, Table]]:
        """Each table with what it holds, in a transaction of its own that shares a snapshot, or sees what is there now."""
        self.ask("begin isolation level repeatable read, read only")
        if snapshot:
            self.ask("set transaction snapshot %s", snapshot)
        self.ask("set local search_path = pg_catalog, public")
        for name, schema, table, columns in self.ask(_TABLES):
            [(rows, first, second)] = self.ask(_digest(schema, table, columns))
            yield name, Table(rows, f"{first}.{second}")
        self.ask("rollback")

    def is_empty(self) -> bool:
        """Whether nobody has made a table in it, but for who began to restore into it."""
        return all(table == UNFINISHED_RESTORE for _, _, table, _ in self.ask(_TABLES))

    def begin_restore(self, archive: str) -> None:
        """From now on no process works on this database, until `end_restore`."""
        table = sql.Identifier(UNFINISHED_RESTORE)
        self.ask(sql.SQL("drop table if exists {}").format(table))
        self.ask(sql.SQL("create table {} as select %s::text as archive, false as is_loaded").format(table), archive)

    def note_loaded(self) -> None:
        """All of the archive's database is there."""
        self.ask(sql.SQL("update {} set is_loaded = true").format(sql.Identifier(UNFINISHED_RESTORE)))

    def find_loaded(self) -> str | None:
        """The archive whose database is there, while not all that belongs to its restore is done."""
        if self.ask("select to_regclass(%s)", UNFINISHED_RESTORE) == [(None,)]:
            return None
        found = self.ask(sql.SQL("select archive from {} where is_loaded").format(sql.Identifier(UNFINISHED_RESTORE)))
        return str(found[0][0]) if found else None

    def end_restore(self) -> None:
        """Processes may work on it."""
        self.ask(sql.SQL("drop table {}").format(sql.Identifier(UNFINISHED_RESTORE)))


@contextmanager
def open_session(url: str) -> Iterator[DatabaseSession]:
    connection = connect_libpq(url, connect_timeout=CONNECT_SECONDS)
    try:
        connection.autocommit = True  # transactions are begun by hand: their kind matters
        session = DatabaseSession(connection)
        session.ask(_SESSION)
        try:
            yield session
        finally:
            # PostgreSQL notices the end of a connection in its own time: whoever comes next would find the locks held.
            with suppress(psycopg2.Error):
                session.ask("select pg_advisory_unlock_all()")
    finally:
        connection.close()


def _digest(schema: str, table: str, columns: list[str]) -> sql.Composed:
    """Hashes that PostgreSQL keeps from version to version: indexes on disk depend on them. Generated columns follow others."""
    row = sql.SQL('row({})::text collate "C"').format(sql.SQL(", ").join(map(sql.Identifier, columns)))
    return sql.SQL(
        "select count(*), coalesce(sum(hashtextextended(line, 0)), 0), coalesce(sum(hashtextextended(line, 1)), 0)"
        " from (select {} as line from {}) as lines"
    ).format(row, sql.Identifier(schema, table))
