"""`tertulia doctor`: is this machine, and is this configuration, fit to run the server?"""

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings


def doctor(
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file with settings.")] = None,
    data: DataFolder = None,
) -> None:
    """Check settings and engines; say what to fix. Exit code 1 if something is wrong."""
    from tertulia.cli.doctor_processes import look_at_processes
    from tertulia.cli.doctor_proxy import look_at_proxy
    from tertulia.kernel.settings import load_settings

    settings = load_settings(config) if data is None else target_settings(data)
    checks: dict[str, Callable[[Settings], str]] = {
        "PostgreSQL": _look_at_postgres,
        "NATS": _look_at_nats,
        "files": _look_at_files,
        "sealing key": _look_at_sealing,
        "secret files": partial(_look_at_secret_files, config),
        "malware scanner": _look_at_scanner,
        "proxy": look_at_proxy,
        "processes": look_at_processes,
        "for `tertulia dev`": _look_at_programs,
    }
    failed = False
    print(f"ok      Python: {sys.version.split()[0]}")
    for name, check in checks.items():
        try:
            print(f"ok      {name}: {check(settings)}")
        except _Warning as advice:
            print(f"WARNING {name}: {advice}")
        except Exception as problem:
            failed = True
            print(f"WRONG   {name}: {str(problem) or type(problem).__name__}{_advice(name, problem)}")
    if failed:
        raise typer.Exit(1)


class _Warning(Exception):
    """The server runs, but not as it should."""


def _advice(name: str, problem: Exception) -> str:
    from nats.errors import NoServersError

    if name == "files":
        return " -- do TERTULIA_STORAGE_FOLDER or TERTULIA_S3_* say where? (--data checks a `tertulia dev`)"
    if isinstance(problem, (OSError, NoServersError)):
        variable = {"PostgreSQL": "TERTULIA_POSTGRES_URL"}.get(name, "TERTULIA_NATS_URL")
        return f" -- is it running, and does {variable} say where? (--data checks a `tertulia dev`)"
    return ""


def _look_at_programs(settings: "Settings") -> str:
    from tertulia.engines import find_nats_server, find_postgres
    from tertulia.engines.find import postgres_version

    programs = find_postgres(settings)
    return f"PostgreSQL {postgres_version(programs)} in {programs}, nats-server at {find_nats_server(settings)}"


def _look_at_postgres(settings: "Settings") -> str:
    from tertulia.cli.errors import CommandFailed

    return asyncio.run(_ask_postgres(settings, CommandFailed))


async def _ask_postgres(settings: "Settings", failed: type[Exception]) -> str:
    from tertulia.kernel.engine_addresses import postgres_trust
    from tertulia.kernel.postgres import Connector, Limits

    connection = await Connector(settings.postgres_url, Limits()).connect()
    try:
        version = int(await connection.fetchval("show server_version_num")) // 10_000
        if version < 15:
            raise failed(f"version {version} is too old: 15 or newer is needed")
        if await connection.fetchval("show wal_level") != "logical":
            raise failed("set wal_level = logical and restart PostgreSQL")
        if await connection.fetchval("select to_regclass('schema_version')") is None:
            raise failed("the database is empty: run `tertulia migrate`")
        revision = await connection.fetchval("select version_num from schema_version")
        lag = await connection.fetchval(
            "select pg_size_pretty(pg_current_wal_lsn() - confirmed_flush_lsn) from pg_replication_slots where slot_name = $1",
            settings.slot,
        )
        trust = postgres_trust(settings.postgres_url)
        if trust.startswith("sslmode=") and trust != "sslmode=disable":
            raise failed(f"{trust} does not check whose certificate it is: write sslmode=verify-full, or disable")
        relay = f"behind by {lag}" if lag else "has not run yet"
        return f"version {version} ({trust}), schema {revision}, relay {relay}"
    finally:
        await connection.close()


def _look_at_nats(settings: "Settings") -> str:
    from tertulia.cli.errors import CommandFailed

    return asyncio.run(_ask_nats(settings, CommandFailed))


async def _ask_nats(settings: "Settings", failed: type[Exception]) -> str:
    from tertulia.cli.doctor_jetstream import look_at_jetstream
    from tertulia.events.log.nats_client import NatsClient, nats_options
    from tertulia.events.relay.connection import WANTED_PAYLOAD
    from tertulia.kernel.engine_addresses import nats_servers

    async def ignore(_: Exception) -> None:
        """The exception that ends the attempt says the same."""

    servers = nats_servers(settings.nats_url)
    client = NatsClient()
    await client.connect(**nats_options(settings), error_cb=ignore, connect_timeout=5, allow_reconnect=False)
    try:
        if client.max_payload < WANTED_PAYLOAD:
            raise failed(
                f"set max_payload: 8MB and restart NATS (it takes {client.max_payload} bytes now): larger events are lost"
            )
        version = client.connected_server_version
        streams = await look_at_jetstream(client)
        tls = "with TLS" if all(server.startswith("tls://") for server in servers) else "without TLS"
        return f"version {version.major}.{version.minor}.{version.patch} {tls}, JetStream with {streams} streams"
    finally:
        await client.close()


def _look_at_sealing(settings: "Settings") -> str:
    from tertulia.kernel.sealing import sealer_of

    if not sealer_of(settings).has_key:
        raise _Warning(
            "secrets in the database are not sealed: write what `tertulia secrets new-key` prints into a file,"
            " name it with TERTULIA_SEALING_KEY_FILE, restart, and run `tertulia secrets reseal`"
        )
    return "secrets in the database are sealed"


def _look_at_secret_files(config: Path | None, settings: "Settings") -> str:
    from tertulia.cli.doctor_secret_files import fault_of, secret_files

    found = secret_files(settings, config)
    if faults := [fault for path in found if (fault := fault_of(path)) is not None]:
        raise _Warning("; ".join(faults))
    return f"{', '.join(map(str, found))}: not for others" if found else "there are none"


def _look_at_scanner(settings: "Settings") -> str:
    from tertulia.content.storage import Scanner

    return asyncio.run(Scanner(settings).ping()) if settings.malware_scanner else "none is set"


def _look_at_files(settings: "Settings") -> str:
    from tertulia.content.storage import Store

    return asyncio.run(Store(settings).check())
