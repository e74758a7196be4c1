"""SQL of thumbnails: one statement per function."""

from tertulia.content.pictures import Shrunk
from tertulia.files.uploads.model import StoredFile, Thumbnail
from tertulia.files.uploads.queries import FILE
from tertulia.kernel.db import Transaction


async def claim(tx: Transaction, seconds: float) -> StoredFile | None:
    """A picture whose thumbnail is to be made; nobody else takes it for so long."""
    sql = f"""
    update attachment set thumbnail_due = now() + make_interval(secs => $1) where id = (
        select id from attachment where thumbnail = {Thumbnail.WAITING} and thumbnail_due <= now()
        order by id limit 1 for no key update skip locked
    ) returning {FILE}
    """
    row = await tx.fetchrow(sql, seconds)
    return StoredFile(**row) if row else None


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
