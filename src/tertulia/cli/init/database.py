"""PostgreSQL: a role with a password, its database, and what the server must be told besides (deploy/debian/postgresql.conf)."""

import os
import pwd
import re
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg2
from psycopg2 import sql
from psycopg2.extensions import encrypt_password

from tertulia.cli.errors import CommandFailed
from tertulia.cli.init.saying import say
from tertulia.cli.init.shipped import shipped
from tertulia.kernel.engine_addresses import hosts_of, is_on_this_machine
from tertulia.kernel.postgres import connect_libpq
from tertulia.kernel.urls import split_url

if TYPE_CHECKING:
    from tertulia.cli.init.settings_file import SettingsFile, Wanted
    from tertulia.kernel.settings import Settings

CONNECT_SECONDS = 5
SUPERUSER = "postgres"
SOCKETS = "/var/run/postgresql"
"""Where Debian's PostgreSQL listens for those on the same machine."""
USUAL_PORT = 5432
SMALLEST, LARGEST = 128, 4096
"""MiB of `shared_buffers`."""


def prepare_database(file: "SettingsFile", wanted: "Wanted") -> tuple["Settings", bool]:
    """The settings, written if they are not there, and a database that lets us in; also whether PostgreSQL must be restarted.
    If it cannot be asked, nothing is written."""
    settings = file.find()
    if settings is not None:
        say(f"kept {file.path} as it is")
    if wanted.postgres_url or (settings is not None and _is_elsewhere(settings.postgres_url)):
        return _take_given(file, settings, wanted.postgres_url)
    if settings is not None and find_wal_level(settings.postgres_url) == "logical":
        return settings, False
    with _superuser(wanted.postgres_admin) as admin:
        if settings is None:
            _refuse_others(admin, wanted.database)
            settings = file.write(_new_url(admin, wanted))
        make_role_and_database(admin, settings.postgres_url)
        must_restart = _configure(admin, is_ours=not wanted.postgres_admin)
    return settings, must_restart


def _is_elsewhere(url: str) -> bool:
    return not all(is_on_this_machine(host) for host in hosts_of(url))


def _take_given(file: "SettingsFile", settings: "Settings | None", url: str) -> tuple["Settings", bool]:
    """A database that somebody else keeps."""
    url = settings.postgres_url if settings is not None else url
    if (wal_level := _ask_wal_level(url)) != "logical":
        say(f"PostgreSQL's wal_level is {wal_level}: set wal_level = logical there and restart it, or no event arrives")
    return settings or file.write(url), False


def find_wal_level(url: str) -> str | None:
    """None: it does not let us in."""
    try:
        return _ask_wal_level(url)
    except psycopg2.OperationalError:
        return None


def _ask_wal_level(url: str) -> str:
    with closing(connect_libpq(url, connect_timeout=CONNECT_SECONDS)) as connection:
        return str(_ask(connection, "show wal_level"))


@contextmanager
def _superuser(url: str) -> Iterator[Any]:
    """A connection that may make roles: by the address, or as Debian's `postgres`, whom PostgreSQL knows by the process."""
    try:
        connection = psycopg2.connect(url, connect_timeout=CONNECT_SECONDS) if url else _connect_as_superuser()
    except psycopg2.OperationalError as problem:
        told = " ".join(str(problem).split())
        raise CommandFailed(
            f"PostgreSQL: {told} -- is it running (`systemctl start postgresql`)? One that is elsewhere is named with"
            " --postgres-admin, if role and database are to be made, or --postgres-url, if they are there."
        ) from problem
    with closing(connection):
        connection.autocommit = True
        yield connection


def _connect_as_superuser() -> Any:
    if os.geteuid() != 0:
        raise CommandFailed(
            "Only root can make a role and a database on this machine. Run this as root, or name a database that is there"
            " with --postgres-url, or a superuser with --postgres-admin."
        )
    try:
        account = pwd.getpwnam(SUPERUSER)
    except KeyError:
        raise CommandFailed(
            "PostgreSQL is not on this machine. Install it (Debian: apt-get install postgresql), or name a database"
            " elsewhere with --postgres-url."
        ) from None
    port = _find_port()
    os.seteuid(account.pw_uid)
    try:
        return psycopg2.connect(
            host=SOCKETS, port=port, user=SUPERUSER, dbname="postgres", connect_timeout=CONNECT_SECONDS
        )
    finally:
        os.seteuid(0)


def _find_port() -> int:
    """Of the only cluster that runs here, or of Debian's first one."""
    ports = [int(path.suffix[1:]) for path in Path(SOCKETS).glob(".s.PGSQL.*") if path.suffix[1:].isdigit()]
    return ports[0] if len(ports) == 1 else USUAL_PORT


def _refuse_others(admin: Any, name: str) -> None:
    """A role whose password we do not know is somebody's."""
    if _has_role(admin, name) or _has_database(admin, name):
        raise CommandFailed(
            f"PostgreSQL has a role or a database {name} already, and there are no settings for it here. Take another name"
            " with --database, or name it, with its password, with --postgres-url."
        )


def _new_url(admin: Any, wanted: "Wanted") -> str:
    who = f"{wanted.database}:{secrets.token_hex(24)}"
    if not wanted.postgres_admin:
        return f"postgresql://{who}@127.0.0.1:{_ask(admin, 'show port')}/{wanted.database}"
    parts = split_url(wanted.postgres_admin)
    where = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{who}@{where}", path=f"/{wanted.database}").geturl()


def make_role_and_database(admin: Any, url: str) -> None:
    """Those that the address names, with its password, if they are not there."""
    parts = split_url(url)
    name, password, database = parts.username or "", parts.password or "", parts.path.lstrip("/")
    if not _has_role(admin, name):
        # Hashed here: PostgreSQL's log may show statements.
        hashed = encrypt_password(password, name, scope=admin, algorithm="scram-sha-256")
        _do(admin, "create role {} login replication password {}", sql.Identifier(name), sql.Literal(hashed))
        say(f"made the role {name} of PostgreSQL")
    if not _has_database(admin, database):
        names = sql.Identifier(database), sql.Identifier(name)
        _do(admin, "create database {} owner {} encoding 'UTF8' template template0", *names)
        say(f"made the database {database}")
    try:
        _ask_wal_level(url)
    except psycopg2.OperationalError as problem:
        told = " ".join(str(problem).split())
        raise CommandFailed(
            f"PostgreSQL has the role {name}, and does not let it in: {told} -- does postgres_url in the settings have its"
            " password, and does pg_hba.conf let it in, for its database and for replication?"
        ) from problem


def _configure(admin: Any, *, is_ours: bool) -> bool:
    """Set what is not as it must be; whether that needs a restart."""
    wanted = dict(re.findall(r"^(\w+) = '([^']+)'", shipped("postgresql.conf").read_text(), re.MULTILINE))
    if is_ours and _ask(admin, "show shared_buffers") == "128MB":  # PostgreSQL's default
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024**2
        wanted["shared_buffers"] = f"{min(max(memory // 8, SMALLEST), LARGEST)}MB"
        wanted["effective_cache_size"] = f"{memory // 2}MB"
    must_restart = False
    for name, value in wanted.items():
        is_at_start, is_as_wanted = (
            _ask(
                admin,
                "select row(context = 'postmaster', current_setting(name) = {1}) from pg_settings where name = {0}",
                sql.Literal(name),
                sql.Literal(value),
            )
            .strip("()")
            .split(",")
        )
        if is_as_wanted == "t":
            continue
        _do(admin, "alter system set {} = {}", sql.Identifier(name), sql.Literal(value))
        say(f"set {name} = {value} in PostgreSQL")
        must_restart = must_restart or is_at_start == "t"
    _do(admin, "select pg_reload_conf()")
    return must_restart


def _has_role(admin: Any, name: str) -> bool:
    return bool(_ask(admin, "select count(*) from pg_roles where rolname = {}", sql.Literal(name)))


def _has_database(admin: Any, name: str) -> bool:
    return bool(_ask(admin, "select count(*) from pg_database where datname = {}", sql.Literal(name)))


def _ask(connection: Any, statement: str, *parts: sql.Composable) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(*parts))
        return cursor.fetchone()[0]


def _do(connection: Any, statement: str, *parts: sql.Composable) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(*parts))
