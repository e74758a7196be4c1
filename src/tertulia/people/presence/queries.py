"""SQL of presence: one statement per function."""

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from tertulia.kernel.db import Reader, Transaction
from tertulia.people.presence.model import CameBack, Ping, Presence
from tertulia.people.users.model import UserView
from tertulia.people.users.statements import IS_VISIBLE

WRITE_SECONDS = 55
"""What is stored may be so old before it is written anew: a little less than the time between two pings."""
AWAY_SECONDS = 130
"""Whoever was not heard of for so long has been away."""
SMALL_REALM = 100
"""In realms of so many people a return is told at once."""

_COLUMNS = """
presence.user_id, coalesce(extract(epoch from presence.active_at), 0)::bigint as active_at,
extract(epoch from presence.connected_at)::bigint as connected_at
"""

_MAY_BE_SHOWN = "not coalesce((realm.settings->>'presence_disabled')::boolean, false)"
"""Of a realm: pings are stored all the same, since whoever sits at a client needs no push."""

_WRITE = f"""
with pinged as (
    select realm_id, user_id, bool_or(active) as active, min(domain) as domain
    from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[]) as ping(realm_id, user_id, active, domain)
    group by realm_id, user_id
), worth as materialized (
    select pinged.*, coalesce(connected_at < now() - make_interval(secs => $6), true) as returned
    from pinged join account on account.id = pinged.user_id and account.is_active
        and coalesce((account.settings->>'presence_enabled')::boolean, true)
    left join presence on presence.user_id = pinged.user_id
    where presence.user_id is null or connected_at < now() - make_interval(secs => $5)
        or (active and coalesce(active_at < now() - make_interval(secs => $5), true))
), clock as (
    insert into presence_clock as held (realm_id, last_id) select distinct realm_id, 1 from worth order by realm_id
    on conflict (realm_id) do update set last_id = held.last_id + 1 returning realm_id, last_id
), written as (
    insert into presence as old (user_id, realm_id, active_at, connected_at, update_id)
    select user_id, worth.realm_id, case when active then now() end, now(), last_id
    from worth join clock on clock.realm_id = worth.realm_id order by user_id
    on conflict (user_id) do update set active_at = greatest(old.active_at, excluded.active_at),
        connected_at = greatest(old.connected_at, excluded.connected_at), update_id = excluded.update_id
    returning user_id, realm_id, active_at, connected_at
)
select written.realm_id, written.user_id, api_email(account, worth.domain) as email,
       coalesce(extract(epoch from active_at), 0)::bigint as active_at, extract(epoch from connected_at)::bigint as connected_at
from written join worth on worth.user_id = written.user_id and worth.returned
join account on account.id = written.user_id
join realm on realm.id = written.realm_id and {_MAY_BE_SHOWN}
where not exists (
    select from account as other
    where other.realm_id = written.realm_id and other.is_active and other.bot_type is null offset $7
)
"""


class Entry(NamedTuple):
    """A presence with its number."""

    update_id: int
    presence: Presence


async def write(tx: Transaction, pings: Sequence[Ping]) -> list[CameBack]:
    """Store pings, unless what is stored is recent enough; returns who of a small realm is back from being away."""
    # A sign of life that a crash takes back comes again within a minute: nobody waits for the disk.
    await tx.execute("set local synchronous_commit = off")
    rows = await tx.fetch(_WRITE, *zip(*pings, strict=True), WRITE_SECONDS, AWAY_SECONDS, SMALL_REALM)
    return [CameBack(**row) for row in rows]


async def news(reader: Reader, realm_ids: Sequence[int], known: Sequence[int]) -> list[asyncpg.Record]:
    """What came after the known numbers, of several realms, in the order of the numbers."""
    sql = f"""
    select presence.realm_id, presence.update_id, {_COLUMNS}
    from unnest($1::bigint[], $2::bigint[]) as wanted(realm_id, known)
    join presence on presence.realm_id = wanted.realm_id and presence.update_id > wanted.known
    order by presence.update_id
    """
    return await reader.fetch(sql, realm_ids, known)


async def visible_users(reader: Reader, view: UserView) -> set[int]:
    """Whose presence a guest sees where guests do not see everybody."""
    sql = f"""
    select account.id from account join presence on presence.user_id = account.id
    where account.realm_id = $4 and {IS_VISIBLE} and $1::int[] is not null and $3::text is not null
    """
    return {row["id"] for row in await reader.fetch(sql, *view.arguments, view.realm_id)}


async def with_addresses(reader: Reader, realm_id: int, domain: str, days: int) -> list[tuple[str, Presence]]:
    """The presences of a realm with the addresses that the API shows, of so many days."""
    sql = f"""
    select api_email(account, $2) as email, {_COLUMNS}
    from presence join account on account.id = presence.user_id
    where presence.realm_id = $1 and account.is_active and connected_at > now() - make_interval(days => $3)
    order by presence.user_id
    """
    rows = await reader.fetch(sql, realm_id, domain, days)
    return [(row["email"], Presence(row["user_id"], row["active_at"], row["connected_at"])) for row in rows]


async def presences_of(reader: Reader, user_ids: Sequence[int], days: int) -> list[tuple[str, str, Presence]]:
    """These people's presences of so many days, each with the realm's subdomain and their address.

    A made-up address ends with the @.
    """
    sql = f"""
    select subdomain, api_email(account, '') as email, {_COLUMNS}
    from presence join account on account.id = presence.user_id join realm on realm.id = account.realm_id
    where presence.user_id = any($1::bigint[]) and account.is_active
        and connected_at > now() - make_interval(days => $2) and {_MAY_BE_SHOWN}
    order by presence.user_id
    """
    rows = await reader.fetch(sql, user_ids, days)
    return [
        (row["subdomain"], row["email"], Presence(row["user_id"], row["active_at"], row["connected_at"]))
        for row in rows
    ]


async def find_presence(reader: Reader, user_id: int) -> Presence | None:
    """When somebody was there."""
    row = await reader.fetchrow(f"select {_COLUMNS} from presence where user_id = $1", user_id)
    return Presence(**row) if row else None


async def last_id(reader: Reader, realm_id: int) -> int:
    """The number of the last change of a realm; -1 if there is none."""
    found = await reader.fetchval("select last_id from presence_clock where realm_id = $1", realm_id)
    return -1 if found is None else int(found)


async def is_bot(reader: Reader, user_id: int) -> bool:
    """Whether the account is a program's."""
    return bool(await reader.fetchval("select bot_type is not null from account where id = $1", user_id))
