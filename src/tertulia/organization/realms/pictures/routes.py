"""Endpoints of an organization's icon and logos."""

from tertulia.content.pictures.receiving import BODY_LIMIT
from tertulia.content.storage import Store
from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, delete, post
from tertulia.organization.realms.pictures.actions import Kind, picture_of_request, set_picture


@post("/realm/icon", body_limit=BODY_LIMIT, takes_files=True)
async def upload_icon(caller: Administrator, call: Call, database: Database, store: Store) -> None:
    """Make a picture the organization's icon: GIF, JPEG, PNG, WebP or AVIF, as the only file of a multipart request."""
    await _upload(caller, call, database, store, "icon")


@delete("/realm/icon")
async def remove_icon(caller: Administrator, tx: Transaction) -> None:
    """Remove the organization's icon: the default one is shown again."""
    await set_picture(tx, caller, "icon", None)


@post("/realm/logo", body_limit=BODY_LIMIT, takes_files=True)
async def upload_logo(caller: Administrator, call: Call, database: Database, store: Store, *, night: bool) -> None:
    """Make a picture the organization's logo, or the one for dark screens; it is shrunk to 800 by 100 pixels."""
    await _upload(caller, call, database, store, _logo(night=night))


@delete("/realm/logo")
async def remove_logo(caller: Administrator, tx: Transaction, *, night: bool) -> None:
    """Remove the organization's logo, or the one for dark screens: the default one is shown again."""
    await set_picture(tx, caller, _logo(night=night), None)


def _logo(*, night: bool) -> Kind:
    return "night_logo" if night else "logo"


async def _upload(caller: Administrator, call: Call, database: Database, store: Store, kind: Kind) -> None:
    async with picture_of_request(call, database, store, caller.realm_id, kind) as name, database.transaction() as tx:
        await set_picture(tx, caller, kind, name)
