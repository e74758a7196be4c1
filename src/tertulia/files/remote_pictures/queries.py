"""SQL of pictures from elsewhere: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.content.markup import RemotePicture
from tertulia.content.pictures.shrinking import Shrunk
from tertulia.files.remote_pictures.model import Known
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.fetching import Due, State

MAX_WAITING = 1000
"""Of a realm. What comes on top is not fetched: its messages show links."""
MAX_OF_PERSON = 100
"""Of these, named by one person or their bots: nobody keeps the pictures of others from being fetched."""
_PERSON = "coalesce(named_by, -realm_id)"
"""Whose turn it is; pictures of old messages are nobody's."""
_IS_RETRIED = f"(remote_picture.state = {State.GONE} and remote_picture.settled_at < now() - interval '1 hour')"
SETTLED = f"""
remote_picture_link join remote_picture on remote_picture.id = picture_id where is_waiting and state <> {State.WAITING}
"""
"""Where messages show a picture as being fetched which is not any more."""
_KNOWN = "realm_id, signature, state, key, content_type, width, height, frames"


async def link(tx: Transaction, shown: Sequence[tuple[int, int, RemotePicture]], *, is_new: bool = True) -> None:
    """Messages, each with its realm, show pictures. One that could not be had an hour ago is tried again.

    One that was not fetched because too many were waiting is tried again as soon as anybody else names it. What is not new
    counts for nobody: whoever wrote it long ago did not choose the moment.
    """
    sql = f"""
    with wanted as (
        select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as wanted(message_id, realm_id, signature, url)
    ), named as (
        select wanted.*, case when $5 then coalesce(bot_owner_id, account.id) end as named_by from wanted
        join message on message.id = message_id join account on account.id = sender_id
    ), crowd as (
        select realm_id, named_by, (select count(*) from (
            select from remote_picture where realm_id = realms.realm_id and state = {State.WAITING} limit {MAX_WAITING}
        ) as waiting) >= {MAX_WAITING} or (select count(*) from (
            select from remote_picture where named_by = realms.named_by and state = {State.WAITING} limit {MAX_OF_PERSON}
        ) as waiting) >= {MAX_OF_PERSON} as is_full
        from (select distinct realm_id, named_by from named) as realms
    ), pictures as (
        insert into remote_picture (realm_id, signature, url, named_by, state, settled_at)
        select distinct on (named.realm_id, signature) named.realm_id, signature, url, named.named_by,
            case when is_full then {State.GONE} else {State.WAITING} end,
            case when is_full then now() - interval '1 hour' end
        from named join crowd on crowd.realm_id = named.realm_id and crowd.named_by is not distinct from named.named_by
        order by named.realm_id, signature, is_full
        on conflict (realm_id, signature) do update set
            state = case when {_IS_RETRIED} then excluded.state else remote_picture.state end,
            named_by = case when {_IS_RETRIED} then excluded.named_by else remote_picture.named_by end,
            tries = case when {_IS_RETRIED} then 0 else remote_picture.tries end,
            due = case when {_IS_RETRIED} then now() else remote_picture.due end
        returning id, realm_id, signature
    )
    insert into remote_picture_link (message_id, picture_id)
    select distinct message_id, id from wanted join pictures using (realm_id, signature) order by message_id, id
    on conflict (message_id, picture_id) do update set is_waiting = true
    """
    messages, realms, pictures = zip(*shown, strict=True)
    await tx.execute(sql, messages, realms, [one.signature for one in pictures], [one.url for one in pictures], is_new)


async def pictures_of(reader: Reader, message_id: int) -> list[Known]:
    """The pictures that a message shows, or has shown."""
    sql = f"""
    select {_KNOWN} from remote_picture_link join remote_picture on remote_picture.id = picture_id
    where message_id = $1 and state <> {State.WAITING}
    """
    return [Known(**row) for row in await reader.fetch(sql, message_id)]


async def show_links(tx: Transaction, message_id: int) -> None:
    """A message shows what its pictures turned out to be."""
    sql = f"""
    update remote_picture_link set is_waiting = false from remote_picture
    where message_id = $1 and remote_picture.id = picture_id and is_waiting and state <> {State.WAITING}
    """
    await tx.execute(sql, message_id)


async def find(reader: Reader, realm_id: int, signature: str) -> Known | None:
    """A picture by what its address ends with."""
    sql = f"select {_KNOWN} from remote_picture where realm_id = $1 and signature = $2"
    row = await reader.fetchrow(sql, realm_id, signature)
    return Known(**row) if row else None


async def count_waiting(reader: Reader, limit: int) -> int:
    """How many pictures wait to be fetched, counted so far."""
    sql = f"select count(*) from (select from remote_picture where state = {State.WAITING} limit $1) as waiting"
    return int(await reader.fetchval(sql, limit))


async def claim(tx: Transaction, limit: int, busy: Sequence[Sequence[int]], seconds: float) -> list[Due]:
    """Pictures to fetch, except for busy realms and people: realms take turns, and people in them, the last named first."""
    sql = f"""
    update remote_picture set due = now() + make_interval(secs => $3), tries = tries + 1 where id in (
        select id from remote_picture where state = {State.WAITING} and due <= now() and id in (
            select id from (
                select id, row_number() over (partition by realm_id order by own_turn, id desc) as turn from (
                    select id, realm_id, row_number() over (partition by realm_id, {_PERSON} order by id desc) as own_turn
                    from remote_picture where state = {State.WAITING} and due <= now()
                        and realm_id <> all($2::bigint[]) and {_PERSON} <> all($4::bigint[])
                ) as own
            ) as queue order by turn, id desc limit $1
        ) for no key update skip locked
    ) returning id, realm_id, {_PERSON} as person, url, tries
    """
    realms, people = busy
    return [Due(**row) for row in await tx.fetch(sql, limit, realms, seconds, people)]


async def put_off(tx: Transaction, picture_id: int, seconds: float) -> None:
    """Fetch it a little later."""
    sql = f"update remote_picture set due = now() + make_interval(secs => $2) where id = $1 and state = {State.WAITING}"
    await tx.execute(sql, picture_id, seconds)


async def give_up(tx: Transaction, picture_id: int) -> None:
    """It cannot be had."""
    sql = (
        f"update remote_picture set state = {State.GONE}, settled_at = now() where id = $1 and state = {State.WAITING}"
    )
    await tx.execute(sql, picture_id)


class Made(msgspec.Struct, frozen=True):
    """What was made of a picture."""

    key: str
    size: int
    content_type: str
    shrunk: Shrunk


async def finish(tx: Transaction, picture_id: int, made: Made) -> bool:
    """It is there; returns whether it is still wanted, and nobody was faster."""
    sql = f"""
    update remote_picture set state = {State.READY}, settled_at = now(), key = $2, size = $3, content_type = $4,
        width = $5, height = $6, frames = $7
    where id = $1 and state = {State.WAITING} returning id
    """
    found = await tx.fetchval(sql, picture_id, made.key, made.size, made.content_type, *made.shrunk)
    return found is not None


async def take_space(tx: Transaction, realm_id: int, size: int) -> int:
    """Pictures of a realm take more, or less; how much they take in all. The row is held until the commit."""
    sql = """
    insert into remote_picture_space (realm_id, used) values ($1, greatest($2, 0))
    on conflict (realm_id) do update set used = greatest(remote_picture_space.used + $2, 0) returning used
    """
    return int(await tx.fetchval(sql, realm_id, size))


class Removed(msgspec.Struct, frozen=True):
    """A picture whose objects are nobody's any more."""

    realm_id: int
    key: str | None
    size: int


async def remove_first(tx: Transaction, realm_id: int, size: int, limit: int) -> list[Removed]:
    """Make room of that size, or a part of it: of whoever has named most in a realm, by size, the pictures that were there first
    are there no longer. Or a few large ones of one person would take the place of everybody's.

    To find them takes some hundredths of a second where there are very many: so a twentieth of theirs goes at once.
    What somebody else holds is left alone: whoever deletes pictures waits for the space that is held here.
    """
    sql = f"""
    with whose as (
        select named_by, sum(size) as held from remote_picture where realm_id = $1 and state = {State.READY}
        group by named_by order by held desc, named_by limit 1
    ), queue as (
        select id, held, sum(size) over (order by settled_at, id) - size as before from (
            select id, held, settled_at, size from whose join remote_picture as picture
                on picture.named_by is not distinct from whose.named_by
            where realm_id = $1 and state = {State.READY} order by settled_at limit $3
        ) as first
    ), first as (
        select id, key, size from remote_picture where id in (select id from queue where before < greatest($2::bigint, held / 20))
        and state = {State.READY} for no key update skip locked
    ), gone as (
        update remote_picture set state = {State.GONE}, settled_at = now(), key = null, size = 0
        from first where remote_picture.id = first.id
    )
    select $1::bigint as realm_id, key, size from first
    """
    return [Removed(**row) for row in await tx.fetch(sql, realm_id, size, limit)]


async def lock_to_check(tx: Transaction, limit: int) -> list[int]:
    """Pictures of which it was not asked for long whether a message shows them, held."""
    sql = "select id from remote_picture where check_due <= now() order by check_due limit $1 for update skip locked"
    return [row["id"] for row in await tx.fetch(sql, limit)]


async def delete_unused(tx: Transaction, picture_ids: Sequence[int], hours: int) -> list[Removed]:
    """Delete those of the held pictures that no message shows; the others are looked at again after so many hours."""
    sql = """
    with gone as (
        delete from remote_picture where id = any($1::bigint[])
            and not exists (select from remote_picture_link where picture_id = remote_picture.id)
        returning id, realm_id, key, size
    ), kept as (
        update remote_picture set check_due = now() + make_interval(hours => $2)
        where id = any($1::bigint[]) and exists (select from remote_picture_link where picture_id = remote_picture.id)
    )
    select realm_id, key, size from gone
    """
    return [Removed(**row) for row in await tx.fetch(sql, picture_ids, hours)]
