"""`tertulia hold`: legal holds, and the copies of what was deleted while they stood (messaging/erasure/holds)."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import Subdomain, in_transaction, realm_id_at, with_database
from tertulia.cli.erasing import find_person
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.content.storage import Store
    from tertulia.kernel.db import Database, Transaction
    from tertulia.messaging.erasure.holds.queries import Hold

app = typer.Typer(
    help="Legal holds: what is held is not erased, and deleting it leaves a copy.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
PORTION = 500


@app.command("add")
def add(
    who: Annotated[
        str, typer.Argument(metavar="[WHO]", help="A person's address or number; without: the whole organization.")
    ] = "",
    realm: Subdomain = "",
    reason: Annotated[str, typer.Option(help="What for, at most 200 characters: shown in the list.")] = "",
    data: DataFolder = None,
) -> None:
    """Hold a person, or an organization; prints the number of the hold. Clients notice nothing."""
    from tertulia.messaging.erasure.holds.actions import add_hold

    if len(reason) > 200:
        raise CommandFailed("The reason is too long (limit: 200 characters).")

    async def work(tx: "Transaction") -> int:
        realm_id = await realm_id_at(tx, realm)
        user_id = (await find_person(tx, realm_id, who))["id"] if who else None
        return await add_hold(tx, realm_id, user_id, reason)

    print(in_transaction(data, work))


@app.command("list")
def list_holds(realm: Subdomain = "", as_json: AsJson = False, data: DataFolder = None) -> None:
    """The holds of an organization, one on a line: id, since when, the number of the person or `everybody`, what for."""
    from tertulia.messaging.erasure.holds.queries import holds_of

    async def work(tx: "Transaction") -> "list[Hold]":
        return await holds_of(tx, await realm_id_at(tx, realm))

    found = in_transaction(data, work)
    if as_json:
        print_json(found)
    else:
        print_rows((one.id, one.created.isoformat(), one.user_id or "everybody", one.reason) for one in found)


@app.command("remove")
def remove(
    hold_id: Annotated[int, typer.Argument(metavar="ID", help="As `tertulia hold list` shows it.")],
    realm: Subdomain = "",
    data: DataFolder = None,
) -> None:
    """End a hold. Copies that nothing else holds are deleted: export them first. Prints how many."""
    from tertulia.messaging.erasure.holds.actions import remove_hold

    async def work(tx: "Transaction") -> int:
        return await remove_hold(tx, await realm_id_at(tx, realm), hold_id)

    print(in_transaction(data, work))


@app.command("export")
def export_copies(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write them. It must not be there.")],
    realm: Subdomain = "",
    data: DataFolder = None,
) -> None:
    """Write what was deleted while it was held: a line of JSON for each in `copies.jsonl`, and the files. Prints how many."""
    settings = target_settings(data)
    os.umask(0o077)
    try:
        folder.mkdir(parents=True)
    except OSError as problem:
        raise CommandFailed(f"{folder} cannot be made: {problem.strerror}.") from problem

    async def work(database: "Database") -> int:
        from tertulia.content.storage import Store
        from tertulia.messaging.erasure.holds.actions import note_exported

        async with database.reader() as reader:
            realm_id = await realm_id_at(reader, realm)
        count = await _write(database, Store(settings), realm_id, folder)
        async with database.transaction() as tx:
            note_exported(tx, realm_id, count)
        return count

    print(with_database(settings, work))


async def _write(database: "Database", store: "Store", realm_id: int, folder: Path) -> int:
    import msgspec

    from tertulia.messaging.erasure.holds.queries import copies_after

    count = last = 0
    with (folder / "copies.jsonl").open("wb") as lines:
        while True:
            async with database.reader() as reader:
                copies = await copies_after(reader, realm_id, last, PORTION)
            for one in copies:
                one["file"] = await _save(store, one, folder)
                lines.write(msgspec.json.encode(one) + b"\n")
            count += len(copies)
            if len(copies) < PORTION:
                return count
            last = copies[-1]["id"]


async def _save(store: "Store", copy: dict[str, Any], folder: Path) -> str | None:
    """The file of a copy, under its number: a name that somebody chose is no path of ours."""
    from tertulia.content.storage import NotStored

    if (key := copy.pop("key")) is None:
        return None
    (folder / "files").mkdir(exist_ok=True)
    name = f"files/{copy['id']}"
    try:
        stored = await store.get(key)
        with (folder / name).open("wb") as target:
            async for chunk in stored.chunks:
                target.write(chunk)
    except NotStored:
        return None
    return name
