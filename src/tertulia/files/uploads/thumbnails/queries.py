"""SQL of thumbnails: one statement per function."""

from collections.abc import Sequence

from tertulia.content.pictures.shrinking import Shrunk
from tertulia.files.uploads.model import StoredFile, Thumbnail
from tertulia.files.uploads.queries import FILE
from tertulia.kernel.db import Transaction

WAITING = f"(select thumbnail_due as due from attachment where thumbnail = {Thumbnail.WAITING}) as them"
"""Pictures without a thumbnail, for whoever counts them."""
_PERSON = "coalesce(share_of, owner_id)"
"""Whose turn it is: a bot's owner."""


async def claim(tx: Transaction, seconds: float, after: int, without: Sequence[int]) -> tuple[StoredFile, int] | None:
    """A picture whose thumbnail is to be made, and whose it is, but none of some people; nobody else takes it for so long.

    People take turns, in the order of their ids: the next `after` that person has it, so that nobody waits for all that
    somebody else has uploaded.
    """
    sql = f"""
    update attachment set thumbnail_due = now() + make_interval(secs => $1) where id = (
        select id from attachment where thumbnail = {Thumbnail.WAITING} and thumbnail_due <= now() and {_PERSON} > $2
            and not {_PERSON} = any($3::bigint[])
        order by {_PERSON}, id limit 1 for no key update skip locked
    ) returning {FILE}, {_PERSON} as person
    """
    row = await tx.fetchrow(sql, seconds, after, without)
    if row is None and after:
        row = await tx.fetchrow(sql, seconds, 0, without)
    if row is None:
        return None
    values = dict(row)
    person = values.pop("person")
    return StoredFile(**values), person


async def hold_ready(tx: Transaction, attachment_id: int) -> bool:
    """Whether a picture is there and has its thumbnail; if so, both stay until the commit."""
    sql = "select thumbnail from attachment where id = $1 for key share"
    return bool(await tx.fetchval(sql, attachment_id) == Thumbnail.READY)


async def finish(tx: Transaction, attachment_id: int, state: Thumbnail, shrunk: Shrunk) -> bool:
    """Store what came of it; returns whether the picture is still there and nobody was faster."""
    sql = f"""
    update attachment set thumbnail = $2, width = $3, height = $4, frames = $5
    where id = $1 and thumbnail = {Thumbnail.WAITING} returning id
    """
    return await tx.fetchval(sql, attachment_id, int(state), *shrunk) is not None
