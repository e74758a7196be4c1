"""What an operator is asked about organizations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import Subdomain, get_realm, in_transaction, realms, with_database
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Database, Transaction
    from tertulia.kernel.settings import Settings

_LIST = """
select id, subdomain, name, is_active,
    (select count(*) from account where realm_id = realm.id and is_active and bot_type is null) as people
from realm order by id
"""
_COUNTS = """
select (select count(*) from account where realm_id = $1 and is_active and bot_type is null) as people,
    (select count(*) from account where realm_id = $1 and is_active and bot_type is not null and system_bot is null) as bots,
    (select count(*) from channel join conversation using (id) where conversation.realm_id = $1) as channels,
    (select coalesce(max(used), 0) from upload_space where realm_id = $1) as bytes_of_files
"""


@realms.command("list")
def list_realms(as_json: AsJson = False, data: DataFolder = None) -> None:
    """All organizations, one on a line: id, address, people, name."""
    settings = target_settings(data)

    async def read(tx: "Transaction") -> list[dict[str, Any]]:
        return [{**row, "url": settings.url_of(row["subdomain"])} for row in await tx.fetch(_LIST)]

    found = in_transaction(data, read)
    if as_json:
        print_json(found)
    else:
        print_rows((one["id"], one["url"], one["people"], one["name"]) for one in found)


@realms.command("show")
def show_realm(realm: Subdomain = "", as_json: AsJson = False, data: DataFolder = None) -> None:
    """What one organization is, and how large."""
    settings = target_settings(data)

    async def read(tx: "Transaction") -> dict[str, Any]:
        found = await get_realm(tx, realm)
        counts = await tx.fetchrow(_COUNTS, found.id)
        about = {
            "id": found.id,
            "url": settings.url_of(found.subdomain),
            "name": found.name,
            "is_active": found.is_active,
            "frozen_since": found.facts.notes.frozen or None,
            "moved_to": found.facts.notes.moved_to or None,
        }
        return {**about, "description": found.description, **(counts or {})}

    _print(in_transaction(data, read), as_json=as_json)


@realms.command("settings")
def show_settings(realm: Subdomain = "", as_json: AsJson = False, data: DataFolder = None) -> None:
    """What its owners have set."""
    import msgspec

    async def read(tx: "Transaction") -> dict[str, Any]:
        return msgspec.structs.asdict((await get_realm(tx, realm)).settings)

    _print(in_transaction(data, read), as_json=as_json)


@realms.command("rename")
def rename(name: str, realm: Subdomain = "", data: DataFolder = None) -> None:
    """Give an organization another name. Its address stays."""
    from tertulia.organization.realms.changing.actions import change_settings, clean_about

    async def work(tx: "Transaction") -> None:
        await change_settings(tx, (await get_realm(tx, realm)).id, {"name": clean_about("name", name.strip())})

    in_transaction(data, work)


@realms.command("icon")
def icon(
    file: Annotated[Path | None, typer.Argument(help="A picture: GIF, JPEG, PNG, WebP or AVIF.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Show the default one again.")] = False,
    realm: Subdomain = "",
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Show where an organization's icon is; or make a picture its icon; or remove it. People see it at once."""
    settings = target_settings(data)
    if file is not None and remove:
        raise CommandFailed("Name a picture, or say --remove, but not both.")

    async def work(database: "Database") -> dict[str, str]:
        from tertulia.organization.realms.pictures.actions import change_picture, pictures_of

        async with database.transaction() as tx:
            realm_id = (await get_realm(tx, realm)).id
            if remove:
                await change_picture(tx, realm_id, "icon", None)
        if file is not None:
            await _set_icon(database, settings, realm_id, _read_picture(file))
        async with database.reader() as reader:
            shown = await pictures_of(reader, realm_id)
        source = "uploaded" if shown["icon_source"] == "U" else "default"
        return {"source": source, "url": settings.url_of(realm).rstrip("/") + shown["icon_url"]}

    _print(with_database(settings, work), as_json=as_json)


def _read_picture(file: Path) -> bytes:
    from tertulia.content.pictures.receiving import MAX_MIB

    try:
        if file.stat().st_size > MAX_MIB * 1024 * 1024:
            raise CommandFailed(f"{file} is too large (limit: {MAX_MIB} MiB).")
        return file.read_bytes()
    except OSError as problem:
        raise CommandFailed(f"{file} cannot be read: {problem.strerror}") from problem


async def _set_icon(database: "Database", settings: "Settings", realm_id: int, picture: bytes) -> None:
    from tertulia.content.pictures.fitting import NotAPicture
    from tertulia.content.storage import Store, StoreUnavailable
    from tertulia.organization.realms.pictures.actions import change_picture, make_icon, stored_picture

    try:
        made = await make_icon(picture)
        storing = stored_picture(database, Store(settings), realm_id, "icon", made)
        async with storing as name, database.transaction() as tx:
            await change_picture(tx, realm_id, "icon", name)
    except NotAPicture:
        raise CommandFailed("The file is no picture that can be read.") from None
    except StoreUnavailable as problem:
        raise CommandFailed(f"The picture cannot be stored: {problem}") from problem


@realms.command("deactivate")
def deactivate(realm: Subdomain = "", data: DataFolder = None) -> None:
    """Let nobody into an organization. All of it is kept, for `tertulia realm reactivate`."""
    _switch(realm, data, is_active=False)


@realms.command("reactivate")
def reactivate(realm: Subdomain = "", data: DataFolder = None) -> None:
    """Let people into their organization again."""
    _switch(realm, data, is_active=True)


def _switch(subdomain: str, data: Path | None, *, is_active: bool) -> None:
    from tertulia.organization.realms.actions import switch_realm

    async def work(tx: "Transaction") -> bool:
        return await switch_realm(tx, (await get_realm(tx, subdomain)).id, is_active=is_active)

    if not in_transaction(data, work, while_frozen=True):
        raise CommandFailed(f"This organization is {'active' if is_active else 'deactivated'} already.")


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print_rows(found.items())
