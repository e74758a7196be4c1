"""Event queues: which clients listen, as their records in NATS say."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import in_transaction
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.events.queues.queue_record import FoundRecord
    from tertulia.events.queues.report import Backlog
    from tertulia.kernel.db import Transaction
    from tertulia.kernel.settings import Settings

app = typer.Typer(help="Event queues.", no_args_is_help=True, rich_markup_mode=None)

ANSWER_SECONDS = 1.0
"""How long web processes have to say how far behind their queues are."""
_PEOPLE = (
    "select account.id, email, subdomain from account join realm on realm.id = realm_id where account.id = any($1)"
)


@app.callback()
def _commands() -> None:
    """Event queues."""


@app.command("list")
def list_queues(
    user: Annotated[str, typer.Option(help="Only those of this address.")] = "",
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Clients that listen, one on a line: address, subdomain, client, how many events wait for it (+: and more), seconds since it
    last asked, seconds since its queue was last kept alive, seconds it lives without being asked, and after which event it
    began. `-`: no web process serves it at the moment."""
    from tertulia.kernel.errors import Refusal

    settings = target_settings(data)
    try:
        records, backlogs = asyncio.run(_read(settings))
    except (OSError, Refusal) as problem:
        raise CommandFailed(f"NATS cannot be asked: {problem}") from problem

    async def name(tx: "Transaction") -> dict[int, Any]:
        return {row["id"]: row for row in await tx.fetch(_PEOPLE, [found.record.user_id for found in records])}

    people = in_transaction(data, name)
    found = [
        _shown(one, people[one.record.user_id], backlogs.get(one.record.id))
        for one in records
        if one.record.user_id in people
    ]
    found = sorted((one for one in found if user in ("", one["email"])), key=lambda one: (one["email"], one["age"]))
    if as_json:
        print_json(found)
    else:
        print_rows(map(_row, found))


async def _read(settings: "Settings") -> "tuple[list[FoundRecord], dict[str, Backlog]]":
    from tertulia.events.log.nats_client import NatsClient, nats_options
    from tertulia.events.queues.queue_record import list_records
    from tertulia.events.queues.report import ask_for_reports

    async def ignore(_: Exception) -> None:
        """The exception that ends the attempt says the same."""

    client = NatsClient()
    await client.connect(**nats_options(settings), error_cb=ignore, connect_timeout=5, allow_reconnect=False)
    try:
        return await list_records(client), await ask_for_reports(client, ANSWER_SECONDS)
    finally:
        await client.close()


def _row(one: dict[str, Any]) -> list[object]:
    behind = "-" if one["waiting"] is None else f"{one['waiting']}{'+' * one['is_more']}"
    silent = "-" if one["silent_seconds"] is None else round(one["silent_seconds"])
    known = [one[key] for key in ("email", "subdomain", "client")]
    return [*known, behind, silent, *(one[key] for key in ("age", "idle_seconds", "start"))]


def _shown(found: "FoundRecord", person: Any, backlog: "Backlog | None") -> dict[str, Any]:
    record = found.record
    return {
        "id": record.id,
        "email": person["email"],
        "subdomain": person["subdomain"],
        "client": record.options.client,
        "age": max(0, round(found.age)),
        "idle_seconds": record.idle_seconds,
        "start": record.start,
        "waiting": None if backlog is None else backlog.waiting,
        "is_more": backlog is not None and backlog.is_more,
        "silent_seconds": None if backlog is None else backlog.silent_seconds,
    }
