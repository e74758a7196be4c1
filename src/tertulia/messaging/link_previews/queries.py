"""SQL of previews of links: one statement per function."""

from collections.abc import Sequence

from tertulia.content.markup import RemotePicture
from tertulia.content.webpages import PageFacts
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.fetching import Due, State
from tertulia.messaging.link_previews.model import Known, Link

MAX_WAITING = 1000
"""Of a realm. What comes on top has no preview."""
MAX_OF_PERSON = 100
"""Of these, linked by one person: nobody keeps the previews of others from being made."""
FRESH = "interval '1 day'"
"""How long is believed what a page said of itself."""
FAILED = "interval '1 hour'"
"""How long is believed that it cannot be had."""
SETTLED = f"""
link_preview_wait join link_preview on link_preview.id = preview_id
left join remote_picture on remote_picture.realm_id = link_preview.realm_id and signature = picture_signature
where link_preview.state <> {State.WAITING} and remote_picture.state is distinct from {State.WAITING}
"""
"""Where messages wait for what is there, with its picture, or will never be."""
_PERSON = "coalesce(named_by, -realm_id)"
_IS_STALE = (
    f"""(link_preview.settled_at < now() - case link_preview.state when {State.READY} then {FRESH} else {FAILED} end)"""
)


async def ask(tx: Transaction, links: Sequence[Link]) -> None:
    """Messages wait for previews. What is not known, or not any more, is to be fetched."""
    sql = f"""
    with wanted as (
        select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) as wanted(message_id, realm_id, named_by, url)
    ), crowd as (
        select realm_id, named_by, (select count(*) from (
            select from link_preview where realm_id = people.realm_id and state = {State.WAITING} limit {MAX_WAITING}
        ) as waiting) >= {MAX_WAITING} or (select count(*) from (
            select from link_preview where named_by = people.named_by and state = {State.WAITING} limit {MAX_OF_PERSON}
        ) as waiting) >= {MAX_OF_PERSON} as is_full
        from (select distinct realm_id, named_by from wanted) as people
    ), previews as (
        insert into link_preview (realm_id, url, named_by)
        select distinct on (realm_id, url) realm_id, url, named_by from wanted join crowd using (realm_id, named_by)
        where not is_full order by realm_id, url
        on conflict (realm_id, url) do update set
            state = case when {_IS_STALE} then {State.WAITING} else link_preview.state end,
            named_by = case when {_IS_STALE} then excluded.named_by else link_preview.named_by end,
            tries = case when {_IS_STALE} then 0 else link_preview.tries end,
            due = case when {_IS_STALE} then now() else link_preview.due end,
            title = case when {_IS_STALE} then '' else link_preview.title end,
            settled_at = case when {_IS_STALE} then null else link_preview.settled_at end
        returning id, realm_id, url
    )
    insert into link_preview_wait (message_id, preview_id)
    select distinct message_id, id from wanted join previews using (realm_id, url) order by message_id, id
    on conflict do nothing
    """
    columns = (
        [link.message_id for link in links],
        [link.realm_id for link in links],
        [link.person_id for link in links],
        [link.url for link in links],
    )
    await tx.execute(sql, *columns)


async def claim(tx: Transaction, limit: int, busy: Sequence[Sequence[int]], seconds: float) -> list[Due]:
    """Pages to fetch, except for busy realms and people, the last linked first."""
    sql = f"""
    update link_preview set due = now() + make_interval(secs => $3), tries = tries + 1 where id in (
        select id from link_preview where state = {State.WAITING} and due <= now()
            and realm_id <> all($2::bigint[]) and {_PERSON} <> all($4::bigint[])
        order by id desc limit $1 for no key update skip locked
    ) returning id, realm_id, {_PERSON} as person, url, tries
    """
    realms, people = busy
    return [Due(**row) for row in await tx.fetch(sql, limit, realms, seconds, people)]


async def put_off(tx: Transaction, preview_id: int, seconds: float) -> None:
    """Fetch it a little later."""
    sql = f"update link_preview set due = now() + make_interval(secs => $2) where id = $1 and state = {State.WAITING}"
    await tx.execute(sql, preview_id, seconds)


async def give_up(tx: Transaction, preview_id: int) -> None:
    """There is nothing to show."""
    sql = f"update link_preview set state = {State.GONE}, settled_at = now() where id = $1 and state = {State.WAITING}"
    await tx.execute(sql, preview_id)


async def picture_key_of(reader: Reader, realm_id: int) -> str:
    """What signs the addresses of pictures from elsewhere; empty, if the realm shows none."""
    sql = """
    select case when coalesce((settings->>'inline_image_preview')::boolean, true) then settings->>'_picture_key' end
    from realm where id = $1
    """
    return await reader.fetchval(sql, realm_id) or ""


async def finish(tx: Transaction, preview_id: int, facts: PageFacts, picture: RemotePicture | None) -> None:
    """It is there."""
    sql = f"""
    update link_preview set state = {State.READY}, settled_at = now(), title = $2, description = $3, picture_url = $4,
        picture_signature = $5
    where id = $1 and state = {State.WAITING}
    """
    signature, url = picture or ("", "")
    await tx.execute(sql, preview_id, facts.title, facts.description, url, signature)


async def hold_waiting(tx: Transaction, preview_id: int, limit: int) -> list[int]:
    """Some of the messages that wait for it, which are not deleted before the commit."""
    sql = """
    select message.id from link_preview_wait join message on message.id = message_id where preview_id = $1
    order by message.id limit $2 for key share of message skip locked
    """
    return [row["id"] for row in await tx.fetch(sql, preview_id, limit)]


async def take_settled(tx: Transaction, message_id: int) -> list[Known]:
    """What a message waits for no longer."""
    sql = f"""
    delete from link_preview_wait using link_preview left join remote_picture
        on remote_picture.realm_id = link_preview.realm_id and signature = picture_signature
    where message_id = $1 and link_preview.id = preview_id and link_preview.state <> {State.WAITING}
        and remote_picture.state is distinct from {State.WAITING}
    returning link_preview.id, link_preview.url, link_preview.state, title, description, picture_url, picture_signature
    """
    return [Known(**row) for row in await tx.fetch(sql, message_id)]


async def wait_again(tx: Transaction, message_id: int, preview_id: int) -> None:
    """It is there, but its picture is not any more, and is fetched anew."""
    sql = """
    insert into link_preview_wait (message_id, preview_id) select $1, id from link_preview where id = $2 on conflict do nothing
    """
    await tx.execute(sql, message_id, preview_id)


async def stop_waiting(tx: Transaction, message_id: int) -> list[str]:
    """A message waits for nothing any more; returns the addresses whose previews its author removed."""
    sql = """
    with gone as (delete from link_preview_wait where message_id = $1)
    select url from link_preview_removed where message_id = $1
    """
    return [row["url"] for row in await tx.fetch(sql, message_id)]


async def remove(tx: Transaction, message_id: int, url: str) -> bool:
    """The author does not want this preview; returns whether the message was waiting for it."""
    sql = """
    with gone as (
        delete from link_preview_wait using link_preview
        where message_id = $1 and link_preview.id = preview_id and link_preview.url = $2 returning preview_id
    ), noted as (
        insert into link_preview_removed (message_id, url) values ($1, $2) on conflict do nothing
    )
    select exists (select from gone)
    """
    return bool(await tx.fetchval(sql, message_id, url))


async def still_wanted(tx: Transaction, realm_id: int) -> bool:
    """Whether the realm wants previews now; it does not change its mind before the commit."""
    sql = """
    select coalesce((settings->>'inline_url_embed_preview')::boolean, false) from realm where id = $1 for share
    """
    return bool(await tx.fetchval(sql, realm_id))


async def lock_stale(tx: Transaction, limit: int) -> list[int]:
    """What nobody believes any more, held."""
    sql = f"""
    select id from link_preview where state <> {State.WAITING} and settled_at < now() - {FRESH}
    order by settled_at limit $1 for update skip locked
    """
    return [row["id"] for row in await tx.fetch(sql, limit)]


async def delete_unawaited(tx: Transaction, preview_ids: Sequence[int]) -> int:
    """Forget those of the held ones that no message waits for; returns how many."""
    sql = """
    with gone as (
        delete from link_preview where id = any($1::bigint[])
            and not exists (select from link_preview_wait where preview_id = link_preview.id) returning id
    )
    select count(*) from gone
    """
    return int(await tx.fetchval(sql, preview_ids))


async def delete_unfetched(tx: Transaction) -> int:
    """Forget what nobody fetched for a day: the operator has switched previews off."""
    sql = f"""
    with gone as (delete from link_preview where state = {State.WAITING} and due < now() - {FRESH} returning id)
    select count(*) from gone
    """
    return int(await tx.fetchval(sql))
