"""`tertulia user erase` and `tertulia user receipt`: what becomes of a person who asks to be forgotten (messaging/erasure/)."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import Subdomain, realm_id_at, users, with_database
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder, target_settings
from tertulia.messaging.erasure.model import Messages

if TYPE_CHECKING:
    from tertulia.kernel.db import Database, Reader
    from tertulia.kernel.settings import Settings
    from tertulia.messaging.erasure.receipt import Receipt

Who = Annotated[str, typer.Argument(metavar="WHO", help="The person's address, or the number of the account.")]
ReceiptFolder = Annotated[
    Path | None, typer.Option("--receipt", help="A folder to write the receipt into as well, as JSON and as text.")
]

_FIND = """
select id, full_name, email, bot_type is not null as is_bot from account
where realm_id = $1 and system_bot is null and (email_key = $2 or id = $3)
"""


@users.command("erase")
def erase(
    who: Who,
    messages: Annotated[
        Messages,
        typer.Option(
            help="What becomes of what they wrote: it stays by an account without a name, it goes, or it is given to one"
            " account for all who are gone."
        ),
    ] = Messages.KEEP,
    realm: Subdomain = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Erase nothing: show by table how many rows are the person's.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    receipt: ReceiptFolder = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Erase a person for good, with their files and bots, and print a receipt. The account stays as a number.

    If it is interrupted, the worker goes on, or the same command with the number of the account.
    """
    settings = target_settings(data)

    async def work(database: "Database") -> "Receipt | dict[str, int]":
        from tertulia.archives.exports.ending import StoredExports
        from tertulia.messaging.erasure.actions import begin, go_on

        async with database.reader() as reader:
            realm_id = await realm_id_at(reader, realm)
            person = await find_person(reader, realm_id, who)
            if dry_run:
                return await _rows_of(reader, person["id"])
        if not yes:
            _ask(person["full_name"], person["email"])
        async with database.transaction() as tx:
            erasure_id = await begin(tx, realm_id, person["id"], messages)
        await go_on(database, _store(settings), StoredExports(), erasure_id)
        return await _receipt(database, person["id"], settings)

    done = with_database(settings, work)
    if isinstance(done, dict):
        print_json(done) if as_json else print_rows(done.items())
        return
    _give(done, receipt, as_json=as_json)
    _list_beside_backups(settings)


@users.command("receipt")
def show_receipt(
    user_id: Annotated[int, typer.Argument(metavar="ID", help="The number of the account that was erased.")],
    receipt: ReceiptFolder = None,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """What was erased of a person, table by table."""
    settings = target_settings(data)

    async def work(database: "Database") -> "Receipt":
        return await _receipt(database, user_id, settings)

    _give(with_database(settings, work), receipt, as_json=as_json)


async def find_person(reader: "Reader", realm_id: int, who: str) -> Any:
    """Somebody by their address or number; fails if there is nobody, or a bot."""
    from tertulia.people.users.addresses import email_key_of

    found = await reader.fetchrow(_FIND, realm_id, email_key_of(who), int(who) if who.isdecimal() else None)
    if found is None:
        raise CommandFailed(f"Nobody in this organization has the address or number {who}.")
    if found["is_bot"]:
        raise CommandFailed(f"{who} is a bot. Bots are erased with the person whose they are.")
    return found


async def _rows_of(reader: "Reader", user_id: int) -> dict[str, int]:
    from tertulia.messaging.erasure.queries import count_rows
    from tertulia.people.users.queries import bots_of

    ids = [user_id, *(bot.id for bot in await bots_of(reader, user_id))]
    return {table: count for table, count in (await count_rows(reader, ids)).items() if count}


def _ask(name: str, email: str) -> None:
    if not sys.stdin.isatty():
        raise CommandFailed("This cannot be undone. Say --yes if you mean it.")
    print(f"{name} <{email}> is erased for good. This cannot be undone.", file=sys.stderr)
    if typer.prompt("Type the address to go on", err=True) != email:
        raise CommandFailed("That is another address. Nothing was erased.")


async def _receipt(database: "Database", user_id: int, settings: "Settings") -> "Receipt":
    from tertulia.messaging.erasure.queries import find_erasure
    from tertulia.messaging.erasure.receipt import receipt_of

    async with database.reader() as reader:
        erasure = await find_erasure(reader, user_id)
        if erasure is None:
            raise CommandFailed(f"The account {user_id} was not erased.")
        return await receipt_of(reader, erasure, settings)


def _give(receipt: "Receipt", folder: Path | None, *, as_json: bool) -> None:
    import msgspec

    from tertulia.messaging.erasure.receipt import in_words

    if folder is not None:
        name = f"erasure-{receipt.realm_id}-{receipt.user_id}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for ending, text in (
                ("json", msgspec.json.format(msgspec.json.encode(receipt)).decode()),
                ("txt", in_words(receipt)),
            ):
                with os.fdopen(
                    os.open(folder / f"{name}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w"
                ) as file:
                    file.write(text)
        except OSError as problem:
            raise CommandFailed(f"The receipt cannot be written to {folder}: {problem.strerror}.") from problem
    print_json(receipt) if as_json else print(in_words(receipt))
    if receipt.finished is None:
        raise CommandFailed("A legal hold came in between: the erasure goes on when it is removed.")


def _list_beside_backups(settings: "Settings") -> None:
    """So that a restore of an older archive repeats it. `tertulia backup` does so as well, wherever it puts archives."""
    import asyncio

    from tertulia.backups.erasures import write_list
    from tertulia.backups.place import open_place

    if settings.backup_place:
        asyncio.run(write_list(settings, open_place("", settings, must_exist=False)))
    else:
        print(
            "No TERTULIA_BACKUP_PLACE is set: the next `tertulia backup` lists the erasure beside its archive. Until then"
            " nothing repeats it after a restore.",
            file=sys.stderr,
        )


def _store(settings: "Settings") -> Any:
    from tertulia.content.storage import Store

    return Store(settings)
