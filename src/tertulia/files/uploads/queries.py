"""SQL of uploaded files: one statement per function."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tertulia.conversations.channels.rights import MAY_READ_MESSAGE
from tertulia.files.uploads.model import AttachmentRecord, NewFile, StoredFile, Thumbnail
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.people.users.handover import Handed

MAX_LISTED = 100
"""How many of the messages that link a file are listed: the newest. Each further link reads and tells so many."""

FILE = """
attachment.id, owner_id, path_id, key, name, size, content_type, extract(epoch from attachment.created_at)::float8 as created_at,
thumbnail, width, height, frames
"""
RECORD = f"""
attachment.id, name, path_id, size, (extract(epoch from created_at) * 1000)::bigint as create_time, array(
    select message_id from attachment_link where attachment_id = attachment.id order by message_id desc limit {MAX_LISTED}
) as message_ids
"""

SMALLEST = 4096
"""Bytes that a file takes of somebody's share at least: empty ones take a row, and an object. `held_share` counts so too."""


def _showing(user_id: str) -> str:
    """The messages that link the file of the row `attachment` and that a user may read: what follows `select`."""
    return f"""
    from attachment_link join message on message.id = attachment_link.message_id
    join conversation on conversation.id = message.conversation_id
    left join account on account.id = {user_id} and account.is_active
    left join read_state on read_state.conversation_id = message.conversation_id and read_state.user_id = {user_id}
    left join channel on channel.id = message.conversation_id
    where attachment_link.attachment_id = attachment.id and {MAY_READ_MESSAGE}
    """


def reached(user_id: str) -> str:
    """Whether a user may read the file of the row `attachment`: it is theirs, or a message they may read links it.

    A file may be linked by very many messages that they may not read: this looks at all of them.
    """
    return f"(attachment.owner_id = {user_id} or exists (select {_showing(user_id)} offset 0))"


def still_reached(user_id: str, shown_by: str) -> str:
    """The same, where it is known which message shows it to them: whether that one still does. For whoever others wait for."""
    by_that = f"attachment_link.message_id = {shown_by}"
    return f"(attachment.owner_id = {user_id} or exists (select {_showing(user_id)} and {by_that} offset 0))"


class Files(NamedTuple):
    """The files of somebody as JSON, and how much their organization has uploaded."""

    attachments: bytes
    used: int


async def find_file(reader: Reader, realm_id: int, user_id: int, path_id: str) -> StoredFile | None:
    """The file at this path, if the user (0: somebody without an account) may read it."""
    sql = f"select {FILE} from attachment where realm_id = $1 and path_id = $3 and {reached('$2::bigint')}"
    row = await reader.fetchrow(sql, realm_id, user_id, path_id)
    return StoredFile(**row) if row else None


async def files_by_id(reader: Reader, ids: Collection[int]) -> list[StoredFile]:
    """Files, whoever asks."""
    sql = f"select {FILE} from attachment where id = any($1::bigint[])"
    return [StoredFile(**row) for row in await reader.fetch(sql, list(ids))]


async def find_files(reader: Reader, caller: Caller, path_ids: Collection[str]) -> list[tuple[StoredFile, int | None]]:
    """Those of the files that the caller may link: their own, and what they may read already, each with a message that shows it
    to them."""
    sql = f"""
    select * from (
        select {FILE}, case when owner_id <> $2 then (
            select message.id {_showing("$2::bigint")} order by attachment_link.message_id desc limit 1
        ) end as shown_by
        from attachment where realm_id = $1 and path_id = any($3::text[])
    ) as found where owner_id = $2 or shown_by is not null
    """
    rows = await reader.fetch(sql, caller.realm_id, caller.user_id, list(path_ids))
    found = []
    for row in rows:
        values = dict(row)
        shown_by = values.pop("shown_by")
        found.append((StoredFile(**values), shown_by))
    return found


async def within_reach(reader: Reader, linked: Sequence[tuple[int, int, int | None]]) -> list[int | None]:
    """Users, each with a file they want to link and a message that shows it to them: its number, or None if it is not there or
    out of their reach."""
    sql = f"""
    select attachment.id
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as linked(user_id, attachment_id, shown_by, place)
    left join attachment on attachment.id = linked.attachment_id and {still_reached("linked.user_id", "linked.shown_by")}
    order by place
    """
    return [row["id"] for row in await reader.fetch(sql, *map(list, zip(*linked, strict=True)))]


async def files_in(reader: Reader, message_id: int) -> list[StoredFile]:
    """The files that a message links."""
    sql = f"""
    select {FILE} from attachment join attachment_link on attachment_id = attachment.id where message_id = $1 order by id
    """
    return [StoredFile(**row) for row in await reader.fetch(sql, message_id)]


async def find_by_id(reader: Reader, attachment_id: int) -> StoredFile | None:
    """A file, whoever asks."""
    row = await reader.fetchrow(f"select {FILE} from attachment where id = $1", attachment_id)
    return StoredFile(**row) if row else None


async def owns_object(reader: Reader, key: str) -> bool:
    """Whether an object is somebody's file."""
    return bool(await reader.fetchval("select exists (select from attachment where key = $1)", key))


async def files_of(reader: Reader, realm_id: int, user_id: int) -> Files:
    """What a user has uploaded, oldest first. PostgreSQL writes the JSON: they may be hundreds of thousands, and to make objects
    of them keeps all others waiting for seconds."""
    sql = f"""
    select coalesce(json_agg(file order by id), '[]')::text from (select {RECORD} from attachment where owner_id = $1) as file
    """
    found = str(await reader.fetchval(sql, user_id))
    return Files(found.encode(), await space_used(reader, realm_id))


async def space_used(reader: Reader, realm_id: int) -> int:
    """How many bytes an organization has uploaded."""
    return int(await reader.fetchval("select used from upload_space where realm_id = $1", realm_id) or 0)


async def share_used(reader: Reader, user_id: int) -> int | None:
    """How many bytes somebody has uploaded with all their bots, or whose bot this is; None: administrators have no share.

    What was deleted under a legal hold is among them, because its objects stay: who uploads and deletes gains nothing.
    """
    sql = f"""
    select (
        select coalesce(sum(greatest(size, {SMALLEST})), 0) from attachment where share_of = coalesce(bot_owner_id, account.id)
    ) + coalesce((select bytes from held_share where held_share.user_id = coalesce(bot_owner_id, account.id)), 0)
    from account where id = $1 and role > $2
    """
    used = await reader.fetchval(sql, user_id, Role.ADMINISTRATOR)
    return None if used is None else int(used)


async def hold_share(tx: Transaction, user_id: int) -> None:
    """Nobody else adds to this person's files before the commit; taken before the organization's space is."""
    sql = """
    select pg_advisory_xact_lock(hashtextextended('share of uploads', coalesce(bot_owner_id, id))) from account where id = $1
    """
    await tx.execute(sql, user_id)


async def take_space(tx: Transaction, realm_id: int, size: int, quota: int | None) -> int | None:
    """Use so many more bytes; returns how many are in use now, None if there is no room for them."""
    sql = """
    insert into upload_space (realm_id, used) select $1, $2 where $3::bigint is null or $2 <= $3
    on conflict (realm_id) do update set used = upload_space.used + excluded.used
        where $3 is null
            or upload_space.used + excluded.used + coalesce(upload_space.held, held_bytes(upload_space.realm_id)) <= $3
    returning used
    """
    used: int | None = await tx.fetchval(sql, realm_id, size, quota)
    return used


async def give_space(tx: Transaction, realm_id: int, size: int) -> int:
    """Use so many bytes less; returns how many are in use now."""
    sql = "update upload_space set used = used - $2 where realm_id = $1 returning used"
    return int(await tx.fetchval(sql, realm_id, size))


async def insert_file(tx: Transaction, caller: Caller, new: NewFile, thumbnail: Thumbnail) -> AttachmentRecord | None:
    """Give an object to the caller; None if it has been swept, or the caller's account is off."""
    sql = f"""
    with adopted as (
        delete from orphan_object where key = $4 returning key
    )
    insert into attachment (realm_id, owner_id, path_id, key, name, size, content_type, thumbnail)
    select $1, account.id, $3, adopted.key, $5, $6, $7, $8
    from adopted join account on account.id = $2 and account.realm_id = $1 and account.is_active
    returning {RECORD}
    """
    values = (new.path_id, new.key, new.name, new.size, new.content_type, int(thumbnail))
    row = await tx.fetchrow(sql, caller.realm_id, caller.user_id, *values)
    return AttachmentRecord(**row) if row else None


async def delete_files(tx: Transaction, attachment_ids: Sequence[int]) -> None:
    """Forget files, and which messages link them."""
    await tx.execute("delete from attachment where id = any($1::bigint[])", attachment_ids)


async def lock_own(tx: Transaction, owner_id: int, attachment_id: int) -> StoredFile | None:
    """Hold a file of somebody's own."""
    sql = f"select {FILE} from attachment where id = $1 and owner_id = $2 for update"
    row = await tx.fetchrow(sql, attachment_id, owner_id)
    return StoredFile(**row) if row else None


async def give_files(tx: Transaction, handed: Handed) -> None:
    """The files of a bot that gets another owner are its former owner's, or the notification bot's: the bot may still read
    those that its messages show. They may be many, so the former owner is told with the notice and not by events."""
    sql = """
    with held as (select id from attachment where owner_id = $2 order by id for no key update)
    update attachment set owner_id = coalesce(
        $3, (select account.id from account where account.realm_id = $1 and system_bot = 'notification')
    )
    from held where attachment.id = held.id
    """
    await tx.execute(sql, handed.realm_id, handed.bot_id, handed.former_owner_id)
