"""SQL of going through old HTML: one statement per function."""

from typing import Literal

import msgspec

from tertulia.kernel.db import Reader, Transaction

Part = Literal["message", "message_revision"]
PARTS: tuple[Part, ...] = ("message", "message_revision")
_TEXTS = {
    "message": "select id, id as message_id, null::bigint as revision_id, rendered from message",
    "message_revision": """
    select id, message_id, id as revision_id, prev_rendered as rendered from message_revision
    """,
}
_MAY_BE_OLD = "coalesce(rendered ~ 'src=\"https?://|<audio ', false)"


class Old(msgspec.Struct, frozen=True):
    """HTML that may be old: of a message, or of one of its revisions."""

    id: int
    message_id: int
    revision_id: int | None
    realm_id: int
    picture_key: str


class Portion(msgspec.Struct, frozen=True):
    """What was found, and up to where was looked; None: to the end."""

    old: list[Old]
    reached: int | None


async def find_cursor(reader: Reader, part: Part) -> int | None:
    """Up to where a part was gone through; None: all of it was."""
    found: int | None = await reader.fetchval("select last_id from rendering_pass where part = $1", part)
    return found


async def find_old(reader: Reader, part: Part, after: int, portion: int, limit: int) -> Portion:
    """Old HTML among the next texts."""
    sql = f"""
    with portion as materialized (
        select id, message_id, revision_id, {_MAY_BE_OLD} as is_old
        from ({_TEXTS[part]}) as texts where id > $1 order by id limit $2
    ), old as (
        select * from portion where is_old order by id limit $3
    )
    select old.id, message_id, revision_id, realm_id, settings->>'_picture_key' as picture_key,
        ends.last_id, ends.count
    from (select max(id) as last_id, count(*) as count from portion) as ends left join old on true
    left join message on message.id = message_id left join realm on realm.id = realm_id order by old.id
    """
    rows = [dict(row) for row in await reader.fetch(sql, after, portion, limit)]
    count = rows[0]["count"]
    reached: int | None = rows[0]["last_id"] if count == portion else None
    found = [row for row in rows if row["id"] is not None]
    if len(found) == limit:
        reached = found[-1]["id"]
    # What has no message any more needs none of this.
    old = [
        Old(row["id"], row["message_id"], row["revision_id"], row["realm_id"], row["picture_key"])
        for row in found
        if row["realm_id"] is not None
    ]
    return Portion(old, reached)


async def move_cursor(tx: Transaction, part: Part, before: int, after: int | None) -> None:
    """A portion is done; the last one takes the cursor away."""
    if after is None:
        await tx.execute("delete from rendering_pass where part = $1 and last_id = $2", part, before)
    else:
        sql = "update rendering_pass set last_id = $3 where part = $1 and last_id = $2"
        await tx.execute(sql, part, before, after)


async def get_rendered(reader: Reader, revision_id: int) -> str:
    """The HTML that a message had before a revision."""
    return str(await reader.fetchval("select prev_rendered from message_revision where id = $1", revision_id))


async def write_rendered(tx: Transaction, revision_id: int, html: str) -> None:
    """The HTML that a message had before a revision, as it is shown now."""
    # A difference is between one text and the next: both that this text has a part in are made anew when they are read.
    sql = """
    with changed as (update message_revision set prev_rendered = $2, html_diff = null where id = $1 returning message_id)
    update message_revision as other set html_diff = null from changed
    where other.message_id = changed.message_id and other.id <> $1 and other.html_diff is not null
    """
    await tx.execute(sql, revision_id, html)
