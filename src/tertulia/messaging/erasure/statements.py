"""SQL of what somebody wrote, and of what others wrote that names them: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.custom_emoji.model import Emoji


async def written(reader: Reader, ids: Sequence[int], limit: int) -> tuple[int, list[int]] | None:
    """Messages of these accounts in one conversation, where the oldest one is; None: there are none."""
    sql = """
    with oldest as materialized (
        select id, conversation_id from message where sender_id = any($1::bigint[]) order by id limit $2
    ), first as (select conversation_id from oldest order by id limit 1)
    select conversation_id, array_agg(oldest.id order by oldest.id) as ids from oldest join first using (conversation_id)
    group by conversation_id
    """
    row = await reader.fetchrow(sql, ids, limit)
    return None if row is None else (row["conversation_id"], row["ids"])


async def count_revisions(reader: Reader, message_ids: Sequence[int]) -> int:
    """What these messages were before."""
    sql = "select count(*) from message_revision where message_id = any($1::bigint[])"
    return int(await reader.fetchval(sql, message_ids))


async def give_messages(tx: Transaction, message_ids: Sequence[int], to: int) -> None:
    """Make another account the author of messages."""
    sql = """
    with given as (
        update message set sender_id = $2 where id = any($1::bigint[]) returning topic_id
    )
    insert into topic_participant (topic_id, user_id)
    select distinct topic_id, $2::bigint from given where topic_id is not null on conflict do nothing
    """
    await tx.execute(sql, message_ids, to)


class Portion(msgspec.Struct, frozen=True):
    """Messages among the next ones that have to do with the person; up to where was looked, and whether that is the end."""

    message_ids: list[int]
    reached: int
    is_last: bool


async def concerned_messages(
    reader: Reader, realm_id: int, ids: Sequence[int], marks: Sequence[str], after: int, limit: int
) -> Portion:
    """Messages that mention these accounts in their HTML, or have a reaction of theirs."""
    sql = """
    with portion as materialized (select id, realm_id, rendered from message where id > $1 order by id limit $2),
    ends as (select coalesce(max(id), $1) as reached, count(*) as count from portion),
    reacted as (
        select message_id as id from reaction, ends
        where message_id > $1 and message_id <= reached and user_id = any($4::bigint[])
    )
    select reached, count, array(
        select id from portion where realm_id = $3 and rendered like any($5::text[]) union select id from reacted order by 1
    ) as ids from ends
    """
    row = await reader.fetchrow(sql, after, limit, realm_id, ids, [f"%{mark}%" for mark in marks])
    assert row is not None
    return Portion(row["ids"], row["reached"], row["count"] < limit)


class Reaction(msgspec.Struct, frozen=True):
    """A reaction that was taken away."""

    user_id: int
    emoji: Emoji


async def take_reactions(tx: Transaction, message_id: int, ids: Sequence[int]) -> list[Reaction]:
    """Delete the reactions of these accounts to a message."""
    sql = """
    delete from reaction where message_id = $1 and user_id = any($2::bigint[])
    returning user_id, emoji_name, emoji_code, reaction_type
    """
    rows = await tx.fetch(sql, message_id, ids)
    return [Reaction(row[0], Emoji(row[1], row[2], row[3])) for row in rows]


async def part_from(
    tx: Transaction, ids: Sequence[int], after: int, reached: int, shared_id: int | None
) -> dict[str, int]:
    """What these accounts did to messages of others in this range: answers to polls go, or are of the shared account."""
    gone = "select from submessage where false" if shared_id else "delete from submessage where {} returning 1"
    where = "message_id > $2 and message_id <= $3 and sender_id = any($1::bigint[])"
    sql = f"""
    with gone as ({gone.format(where)}),
    given as (update submessage set sender_id = $4 where $4::bigint is not null and {where} returning 1)
    select (select count(*) from gone) + (select count(*) from given) as submessage
    """
    return {"submessage": int(await tx.fetchval(sql, ids, after, reached, shared_id))}


async def part_from_topics(tx: Transaction, ids: Sequence[int]) -> int:
    """These accounts take part in no topic any more."""
    sql = "with gone as (delete from topic_participant where user_id = any($1::bigint[]) returning 1) select count(*) from gone"
    return int(await tx.fetchval(sql, ids))


class Revision(msgspec.Struct, frozen=True):
    """What a message was before."""

    id: int
    prev_content: str
    prev_rendered: str


class Revisions(msgspec.Struct, frozen=True):
    """Those among the next ones that mention somebody."""

    found: list[Revision]
    reached: int
    is_last: bool


async def revisions_naming(reader: Reader, marks: Sequence[str], after: int, limit: int) -> Revisions:
    """Former texts of messages that mention these accounts in their HTML."""
    sql = """
    with portion as materialized (
        select id, prev_content, prev_rendered from message_revision where id > $1 order by id limit $2
    )
    select portion.*, ends.* from (select coalesce(max(id), $1) as reached, count(*) as count from portion) as ends
    left join portion on prev_rendered like any($3::text[]) order by id
    """
    rows = await reader.fetch(sql, after, limit, [f"%{mark}%" for mark in marks])
    found = [Revision(row["id"], row["prev_content"], row["prev_rendered"]) for row in rows if row["id"] is not None]
    return Revisions(found, rows[0]["reached"], rows[0]["count"] < limit)


async def write_revision(tx: Transaction, revision: Revision) -> None:
    """A former text with another name in it. Differences between texts are made anew when they are read."""
    sql = """
    with changed as (
        update message_revision set prev_content = $2, prev_rendered = $3, html_diff = null where id = $1 returning message_id
    )
    update message_revision as other set html_diff = null from changed
    where other.message_id = changed.message_id and other.id <> $1 and other.html_diff is not null
    """
    await tx.execute(sql, revision.id, revision.prev_content, revision.prev_rendered)


async def part_from_revisions(tx: Transaction, ids: Sequence[int], after: int, reached: int, to: int | None) -> int:
    """Who moved messages was somebody who is gone: nobody, or the shared account."""
    sql = """
    with parted as (
        update message_revision set user_id = $4 where id > $2 and id <= $3 and user_id = any($1::bigint[]) returning 1
    )
    select count(*) from parted
    """
    return int(await tx.fetchval(sql, ids, after, reached, to))


class Field(msgspec.Struct, frozen=True):
    """A text of others that may name somebody, with the HTML made of it."""

    table: str
    keys: tuple[str, ...]
    text: str
    html: str
    most: int | None = None
    """Characters of the text that the table takes. Who has no name any more has a long one."""


class FieldRow(msgspec.Struct, frozen=True):
    """One of them."""

    keys: tuple[int, ...]
    text: str
    html: str


async def rows_naming(reader: Reader, field: Field, realm_id: int, marks: Sequence[str]) -> list[FieldRow]:
    """Texts whose HTML mentions somebody."""
    sql = f"""
    select {field.text}, {field.html}, {", ".join(field.keys)} from {field.table}
    where realm_id = $1 and {field.html} like any($2::text[])
    """
    rows = await reader.fetch(sql, realm_id, [f"%{mark}%" for mark in marks])
    return [FieldRow(tuple(row[2:]), row[0], row[1]) for row in rows]


async def write_row(tx: Transaction, field: Field, row: FieldRow, text: str, html: str) -> None:
    """Another text and HTML, unless somebody changed it meanwhile: then it cannot name who has no name any more."""
    where = " and ".join(f"{key} = ${place}" for place, key in enumerate(field.keys, 5))
    sql = f"""
    update {field.table} set {field.text} = $1, {field.html} = $2
    where {field.text} = $3 and {field.html} = $4 and {where}
    """
    await tx.execute(sql, text[: field.most], html, row.text, row.html, *row.keys)


async def unsent_naming(tx: Transaction, table: str, realm_id: int, name: str) -> list[tuple[int, str]]:
    """Drafts or snippets of an organization, held, that mention somebody by this name."""
    sql = f"""
    select {table}.id, content from {table} join account on account.id = user_id and account.realm_id = $1
    where strpos(lower(content), lower($2)) > 0 order by {table}.id for no key update of {table}
    """
    return [(row["id"], row["content"]) for row in await tx.fetch(sql, realm_id, f"**{name}")]


async def write_unsent(tx: Transaction, table: str, id: int, content: str) -> None:
    """Another text."""
    await tx.execute(f"update {table} set content = $2 where id = $1", id, content)


async def rename_in_notices(tx: Transaction, realm_id: int, former: str, name: str) -> None:
    """Whom the notification bot is about to name."""
    sql = """
    update notice set body = replace(body::text, to_json($2::text)::text, to_json($3::text)::text)::jsonb
    where realm_id = $1 and strpos(body::text, to_json($2::text)::text) > 0
    """
    await tx.execute(sql, realm_id, former, name)
