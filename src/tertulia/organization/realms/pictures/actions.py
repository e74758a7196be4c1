"""The pictures of an organization: its icon, and its logos for light and dark screens. Everybody sees them, logged in or not."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import msgspec

from tertulia.content.pictures.apart import cover, within
from tertulia.content.pictures.keeping import adopt, offered
from tertulia.content.pictures.receiving import receive
from tertulia.content.storage import Store, orphans
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.realms.changing.actions import check_is_administrator

Kind = Literal["icon", "logo", "night_logo"]
DEFAULT_URL = "/static/icon.svg"
DEFAULT_SOURCE: dict[Kind, str] = {"icon": "G", "logo": "D", "night_logo": "D"}
ICON_SIDE = 512
"""As large as the icon of an installed client is asked for."""
LOGO_WIDTH, LOGO_HEIGHT = 800, 100


@asynccontextmanager
async def picture_of_request(
    call: Call, database: Database, store: Store, realm_id: int, kind: Kind
) -> AsyncIterator[str]:
    """Store the picture of a request; yields its name. `set_picture` has to be called inside the `async with`."""
    data = await receive(call, store.scanner, make_icon if kind == "icon" else _logo)
    async with stored_picture(database, store, realm_id, kind, data) as name:
        yield name


@asynccontextmanager
async def stored_picture(
    database: Database, store: Store, realm_id: int, kind: Kind, data: bytes
) -> AsyncIterator[str]:
    """Store a picture of the right size; yields its name. It has to become the organization's inside the `async with`."""
    name = secrets.token_hex(20)
    async with offered(database, store, {key_of(realm_id, kind, name): data}):
        yield name


async def make_icon(data: bytes) -> bytes:
    """A picture as an icon is stored: square, and small."""
    [icon] = await cover(data, [ICON_SIDE])
    return icon


async def _logo(data: bytes) -> bytes:
    return await within(data, LOGO_WIDTH, LOGO_HEIGHT)


async def set_picture(tx: Transaction, caller: Caller, kind: Kind, name: str | None) -> None:
    """Make a stored picture the organization's, or take it away. Everybody is told."""
    await check_is_administrator(tx, caller)
    await change_picture(tx, caller.realm_id, kind, name)


async def change_picture(tx: Transaction, realm_id: int, kind: Kind, name: str | None) -> None:
    """The same, for whoever may."""
    old = await _lock(tx, realm_id, kind)
    if old == name:
        return
    if name is not None:
        await adopt(tx, [key_of(realm_id, kind, name)])
    if old is not None:
        await orphans.drop(tx, [key_of(realm_id, kind, old)])
    sql = "update realm_picture set name = $3, version = version + 1 where realm_id = $1 and kind = $2"
    await tx.execute(sql, realm_id, kind, name)
    shown = await pictures_of(tx, realm_id)
    data = {key: shown[key] for key in (f"{kind}_url", f"{kind}_source")}
    event = {"op": "update_dict", "property": kind, "data": data}
    tx.emit(realm_id, record(Audience(realm=True), "realm", event))
    changes = {kind: (old is not None, name is not None)}
    note(tx, realm_id, Act.REALM_PICTURE_CHANGED, realm(realm_id), **changes)


async def _lock(tx: Transaction, realm_id: int, kind: Kind) -> str | None:
    """The name of the picture, locked until the commit."""
    sql = """
    insert into realm_picture as held (realm_id, kind) values ($1, $2)
    on conflict (realm_id, kind) do update set version = held.version returning name
    """
    found: str | None = await tx.fetchval(sql, realm_id, kind)
    return found


class _Row(msgspec.Struct, frozen=True):
    kind: Kind
    name: str
    version: int


async def pictures_of(reader: Reader, realm_id: int) -> dict[str, str]:
    """The address and source of each picture."""
    sql = "select kind, name, version from realm_picture where realm_id = $1 and name is not null"
    rows = {row["kind"]: _Row(**row) for row in await reader.fetch(sql, realm_id)}
    shown: dict[str, str] = {}
    for kind, source in DEFAULT_SOURCE.items():
        row = rows.get(kind)
        shown[f"{kind}_url"] = DEFAULT_URL if row is None else _url(realm_id, row)
        shown[f"{kind}_source"] = source if row is None else "U"
    return shown


def _url(realm_id: int, row: _Row) -> str:
    return f"/user_avatars/{realm_id}/realm/{row.kind}/{row.name}.png?version={row.version}"


async def find_icon(reader: Reader, realm_id: int) -> str | None:
    """The name of the organization's own icon."""
    sql = "select name from realm_picture where realm_id = $1 and kind = 'icon'"
    found: str | None = await reader.fetchval(sql, realm_id)
    return found


async def is_in_use(reader: Reader, realm_id: int, kind: str, name: str) -> bool:
    """Whether it is a picture of the organization now."""
    sql = "select exists (select from realm_picture where realm_id = $1 and kind = $2 and name = $3)"
    return bool(await reader.fetchval(sql, realm_id, kind, name))


def key_of(realm_id: int, kind: str, name: str) -> str:
    """The object of a picture."""
    return f"pictures/{realm_id}/{kind}/{name}.png"
