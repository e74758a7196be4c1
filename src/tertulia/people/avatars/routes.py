"""Endpoints of avatars."""

import msgspec

from tertulia.content.pictures.receiving import BODY_LIMIT
from tertulia.content.storage import Store
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, delete, post
from tertulia.people.avatars.actions import avatar_of_request, check_may_change, set_own_avatar


class NewAvatar(msgspec.Struct):
    """The answer of changing one's avatar."""

    avatar_url: str


@post("/users/me/avatar", body_limit=BODY_LIMIT, takes_files=True)
async def upload_avatar(caller: Person, call: Call, database: Database, store: Store) -> NewAvatar:
    """Make a picture your avatar: GIF, JPEG, PNG, WebP or AVIF, as the only file of a multipart request.

    It is cut to a square. Nothing else that the file holds is kept, such as the place where it was taken.
    """
    check_may_change(caller)
    async with avatar_of_request(call, database, store, caller.realm_id) as name, database.transaction() as tx:
        return NewAvatar(await set_own_avatar(tx, caller, name))


@delete("/users/me/avatar")
async def remove_avatar(caller: Person, tx: Transaction) -> NewAvatar:
    """Go back to the avatar that is drawn for you. The picture is deleted."""
    return NewAvatar(await set_own_avatar(tx, caller, None))
