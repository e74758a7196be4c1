"""SQL of the links between messages and files: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.files.uploads.model import AttachmentRecord, Thumbnail
from tertulia.files.uploads.queries import RECORD, still_reached
from tertulia.kernel.db import Reader, Transaction


async def replace_links(
    tx: Transaction,
    message_id: int,
    ids: Sequence[int],
    waiting: Sequence[bool],
    shown_by: Sequence[int | None],
    author_id: int,
) -> list[int]:
    """A message links those of these files that its author may share, and no others; what changed by that."""
    sql = f"""
    with wanted as (
        select attachment.id, is_waiting
        from unnest($2::bigint[], $3::boolean[], $5::bigint[]) as wanted(id, is_waiting, shown_by)
        join attachment on attachment.id = wanted.id and {still_reached("$4::bigint", "wanted.shown_by")}
    ), gone as (
        delete from attachment_link where message_id = $1 and attachment_id <> all($2::bigint[]) returning attachment_id
    ), dated as (
        update attachment set unlinked_at = now() from gone where id = attachment_id
    ), made as (
        insert into attachment_link (message_id, attachment_id, is_waiting) select $1, id, is_waiting from wanted order by id
        on conflict (message_id, attachment_id) do update set is_waiting = excluded.is_waiting
        returning attachment_id, xmax = 0 as is_new
    )
    select attachment_id from gone union select attachment_id from made where is_new order by attachment_id
    """
    return [row["attachment_id"] for row in await tx.fetch(sql, message_id, ids, waiting, author_id, shown_by)]


async def show_links(tx: Transaction, message_id: int) -> None:
    """A message shows what is ready of the pictures it links."""
    sql = f"""
    update attachment_link set is_waiting = false from attachment
    where message_id = $1 and attachment.id = attachment_id and thumbnail <> {Thumbnail.WAITING}
    """
    await tx.execute(sql, message_id)


async def delete_links(tx: Transaction, message_ids: Sequence[int]) -> list[int]:
    """Remove all links of messages to files; returns the files they linked."""
    sql = """
    with gone as (
        delete from attachment_link where message_id = any($1::bigint[]) returning attachment_id
    ), dated as (
        update attachment set unlinked_at = now() from (select distinct attachment_id from gone) as gone where id = attachment_id
    )
    select distinct attachment_id from gone order by attachment_id
    """
    return [row["attachment_id"] for row in await tx.fetch(sql, message_ids)]


async def hold_files(tx: Transaction, attachment_ids: Sequence[int]) -> None:
    """Nobody else tells of these files until the commit."""
    sql = "select id from attachment where id = any($1::bigint[]) order by id for no key update"
    await tx.fetch(sql, attachment_ids)


async def linked_by(reader: Reader, message_ids: Sequence[int]) -> list[int]:
    """The files that messages link."""
    sql = (
        "select distinct attachment_id from attachment_link where message_id = any($1::bigint[]) order by attachment_id"
    )
    return [row["attachment_id"] for row in await reader.fetch(sql, message_ids)]


async def records(reader: Reader, attachment_ids: Sequence[int]) -> list[tuple[int, AttachmentRecord]]:
    """Files as their owners see them, each with its owner."""
    sql = f"select owner_id, {RECORD} from attachment where id = any($1::bigint[]) order by id"
    found = []
    for row in await reader.fetch(sql, attachment_ids):
        values = dict(row)
        found.append((values.pop("owner_id"), msgspec.convert(values, AttachmentRecord)))
    return found
