"""SQL of erasures: one statement per function. Names of tables and columns are those of tables.py, never a stranger's."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import asyncpg
import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.freezing import is_frozen
from tertulia.messaging.erasure.model import SHARED_ADDRESS, SHARED_NAME, Erasure, Listed, Messages, Stage
from tertulia.messaging.erasure.tables import TABLES, Gone, columns_of

_COLUMNS = """
id, realm_id, user_id, account_ids, messages, stage, last_id, since_message, counts::text as counts, asked, finished, asked_by,
    kept::text as kept
"""
_LEASE = "now() + interval '60 seconds'"
"""Whoever does a step has so long for it; if they were killed, the worker goes on after that."""
_MAY_GO_ON = f"""
not {is_frozen("erasure.realm_id")} and not exists (
    select from legal_hold where legal_hold.realm_id = erasure.realm_id
        and (legal_hold.user_id is null or legal_hold.user_id = any(account_ids))
)
"""
"""No hold stands against it, and the organization is not being moved: what is erased then would be there in the copy."""
WAITING = f"(select due from erasure where stage is not null and {_MAY_GO_ON}) as unfinished"
_ARRAYS = ("account_ids", "former_names", "participants", "user_ids")


# Erasures


def _erasure(row: asyncpg.Record) -> Erasure:
    decoded = {name: msgspec.json.decode(row[name] or "null") for name in ("counts", "kept")}
    return msgspec.convert({**row, **decoded}, Erasure)


async def find_erasure(reader: Reader, user_id: int) -> Erasure | None:
    """The erasure of a person."""
    row = await reader.fetchrow(f"select {_COLUMNS} from erasure where user_id = $1", user_id)
    return _erasure(row) if row else None


async def hold_erasure(tx: Transaction, erasure_id: int) -> Erasure | None:
    """An erasure with something to do; None: it is done, it is somebody else's turn, or something stands against it."""
    sql = f"""
    select {_COLUMNS} from erasure where id = $1 and stage is not null and {_MAY_GO_ON} for update skip locked
    """
    row = await tx.fetchrow(sql, erasure_id)
    return _erasure(row) if row else None


async def claim_due(tx: Transaction) -> int | None:
    """One with something to do now, which nobody else takes up meanwhile. Those that have to wait are in nobody's way.

    Organizations take turns: each erasure goes through all messages there are, and one of them may ask for hundreds.
    """
    sql = f"""
    update erasure set due = {_LEASE} where id = (
        select id from erasure where stage is not null and due <= now() and {_MAY_GO_ON}
        order by (select max(finished) from erasure as other where other.realm_id = erasure.realm_id) nulls first, due
        limit 1 for update skip locked
    ) returning id
    """
    found: int | None = await tx.fetchval(sql)
    return found


async def try_later(tx: Transaction, erasure_id: int, seconds: float) -> None:
    """It failed: the others come first."""
    await tx.execute("update erasure set due = now() + make_interval(secs => $2) where id = $1", erasure_id, seconds)


async def is_any_under_way(reader: Reader, realm_id: int) -> bool:
    """Whether somebody of an organization is being erased at this moment."""
    sql = "select exists (select from erasure where realm_id = $1 and finished is null)"
    return bool(await reader.fetchval(sql, realm_id))


async def begin(
    tx: Transaction, realm_id: int, user_id: int, ids: Sequence[int], messages: Messages, asked_by: int | None
) -> None:
    """Note that somebody is erased, or that something else is to become of their messages.

    Who asked over the network leaves it to the worker, at once; the command does it itself.
    """
    sql = f"""
    with ended as (update account set is_erased = true where id = any($3::bigint[]) and not is_erased)
    insert into erasure (realm_id, user_id, account_ids, messages, stage, asked_by, due, since_message)
    values ($1, $2, $3, $4, $5, $6, case when $6::bigint is null then {_LEASE} else now() end,
        coalesce((select max(id) from message), 1))
    on conflict (user_id) do update set messages = excluded.messages, stage = excluded.stage, last_id = 0,
        due = excluded.due, asked = now(), asked_by = excluded.asked_by, finished = null, kept = null
    """
    await tx.execute(sql, realm_id, user_id, ids, messages.value, next(iter(Stage)).value, asked_by)


async def move_on(
    tx: Transaction, erasure: Erasure, stage: Stage | None, last_id: int, done: Mapping[str, int]
) -> None:
    """Say how far it is, in the transaction that came so far, and what that did."""
    sql = f"""
    update erasure set stage = $2, last_id = $3, counts = $4::text::jsonb, due = {_LEASE},
        finished = case when $2::text is null then coalesce(finished, now()) end
    where id = $1
    """
    await tx.execute(sql, erasure.id, stage, last_id, _with(erasure, done))


async def add_counts(tx: Transaction, erasure: Erasure, done: Mapping[str, int]) -> None:
    """What was done before the first stage."""
    await tx.execute("update erasure set counts = $2::text::jsonb where id = $1", erasure.id, _with(erasure, done))


def _with(erasure: Erasure, done: Mapping[str, int]) -> str:
    return _text({name: erasure.counts.get(name, 0) + done.get(name, 0) for name in {*erasure.counts, *done}})


def _text(counts: Mapping[str, int]) -> str:
    return msgspec.json.encode({name: count for name, count in sorted(counts.items()) if count}).decode()


async def note_kept(tx: Transaction, erasure_id: int, kept: Mapping[str, int]) -> None:
    """What is left when all is done, for the receipt: counting it reads some tables from end to end."""
    await tx.execute("update erasure set kept = $2::text::jsonb where id = $1", erasure_id, _text(kept))


async def put_off(tx: Transaction, erasure_id: int, stage: Stage, seconds: float) -> None:
    """All is done; one step is done once more, later. The erasure counts as finished."""
    sql = """
    update erasure set stage = $2, finished = now(), due = now() + make_interval(secs => $3) where id = $1
    """
    await tx.execute(sql, erasure_id, stage.value, seconds)


async def listed(reader: Reader) -> list[Listed]:
    """All erasures, as they are listed beside the backups."""
    sql = """
    select uuid::text as realm, user_id, date_joined as joined, messages, asked
    from erasure join realm on realm.id = erasure.realm_id join account on account.id = user_id order by asked
    """
    return [msgspec.convert(dict(row), Listed) for row in await reader.fetch(sql)]


class Known(msgspec.Struct, frozen=True):
    """What is known here of an account that is listed as erased."""

    realm_id: int
    is_erased: bool
    asked: datetime | None
    """When that was asked for the last time; None: it is not known that anybody did."""


async def find_listed(reader: Reader, realm: str, user_id: int, joined: datetime) -> Known | None:
    """An account that is listed as erased; None: there is none."""
    sql = """
    select realm.id as realm_id, is_erased, asked from account join realm on realm.id = account.realm_id
    left join erasure on erasure.user_id = account.id
    where account.id = $2 and uuid = $1 and date_joined = $3
    """
    row = await reader.fetchrow(sql, UUID(realm), user_id, joined)
    return Known(**row) if row else None


async def accounts_of(reader: Reader, realm_id: int, user_id: int) -> list[int]:
    """A person of the organization, and their bots; empty: there is no such person."""
    sql = """
    select id from account where realm_id = $1 and system_bot is null
        and (id = $2 and bot_type is null or bot_owner_id = $2)
    """
    return [row["id"] for row in await reader.fetch(sql, realm_id, user_id)]


async def held_by(reader: Reader, realm_id: int, ids: Sequence[int]) -> bool:
    """Whether a legal hold is upon the organization or one of these accounts."""
    sql = """
    select exists (select from legal_hold where realm_id = $1 and (user_id is null or user_id = any($2::bigint[])))
    """
    return bool(await reader.fetchval(sql, realm_id, ids))


# What belongs to an account


async def count_rows(reader: Reader, ids: Sequence[int], tables: Collection[str] = TABLES) -> dict[str, int]:
    """By table: rows that name these accounts. Of all tables it may take a while: some are read from end to end."""
    parts = []
    for table, line in TABLES.items():
        if table not in tables:
            continue
        own = (line.column,) if isinstance(line, Gone) else columns_of(line)
        wanted = " or ".join(_names(column) for column in own if column not in ("bot_owner_id", "share_of"))
        if wanted:
            parts.append(f"select '{table}' as name, (select count(*) from {table} where {wanted}) as count")
    rows = await reader.fetch(" union all ".join(parts), ids) if parts else []
    return {row["name"]: row["count"] for row in rows}


def _names(column: str) -> str:
    if column == "target_id":
        return "target_kind = 'user' and target_id = any($1::bigint[])"
    return f"{column} && $1::bigint[]" if column in _ARRAYS else f"{column} = any($1::bigint[])"


async def delete_rows(tx: Transaction, table: str, column: str, ids: Sequence[int], limit: int) -> int:
    """Delete rows of these accounts, so many at most; how many."""
    sql = f"""
    with gone as (
        delete from {table} where ctid = any(array(select ctid from {table} where {column} = any($1::bigint[]) limit $2))
        returning 1
    )
    select count(*) from gone
    """
    return int(await tx.fetchval(sql, ids, limit))


async def delete_by_address(tx: Transaction, realm_id: int, ids: Sequence[int]) -> dict[str, int]:
    """Delete what has the addresses of these accounts in it, or what their provider calls them."""
    sql = """
    with whose as materialized (select email_key from account where id = any($2::bigint[])),
    failures as (
        delete from login_failure where realm_id = $1 and username_key in (select email_key from whose) returning 1
    ), bounces as (
        delete from mail_failure where email_key in (select email_key from whose) and not exists (
            select from account where account.email_key = mail_failure.email_key and id <> all($2::bigint[])
        ) returning 1
    ), mails as (
        delete from mail_outbox where lower(recipient) in (select email_key from whose) and not exists (
            select from account where account.email_key = lower(recipient) and id <> all($2::bigint[])
        ) returning 1
    ), signups as (
        delete from signup where realm_id = $1 and email_key in (select email_key from whose) returning 1
    ), invited as (
        delete from invitation where realm_id = $1 and email_key in (select email_key from whose) returning 1
    ), logouts as (
        delete from provider_logout where (issuer, subject) in (
            select provider, subject from external_identity where user_id = any($2::bigint[])
        ) or subject in (select subject from external_identity where user_id = any($2::bigint[])) returning 1
    )
    select (select count(*) from failures) as login_failure, (select count(*) from bounces) as mail_failure,
        (select count(*) from mails) as mail_outbox, (select count(*) from signups) as signup,
        (select count(*) from invited) as invitation, (select count(*) from logouts) as provider_logout
    """
    row = await tx.fetchrow(sql, realm_id, ids)
    assert row is not None
    return dict(row)


async def scrub_account(tx: Transaction, user_id: int, name: str, email: str) -> bool:
    """Empty the row of an account; whether there was anything in it."""
    sql = """
    update account set full_name = $2, email = $3, email_key = $3, password_hash = null, avatar = null,
        avatar_version = avatar_version + 1, settings = '{}', timezone = '', is_imported_stub = false, is_erased = true
    where id = $1 and (full_name, email, settings, timezone, is_erased) is distinct from ($2, $3, '{}'::jsonb, '', true)
        or id = $1 and num_nonnulls(password_hash, avatar) > 0
    returning true
    """
    return bool(await tx.fetchval(sql, user_id, name, email))


class Shown(msgspec.Struct, frozen=True):
    """What others see of an account, and can be told of."""

    full_name: str
    avatar: str | None
    timezone: str
    status: bool
    field_ids: list[int]


async def shown(reader: Reader, user_id: int) -> Shown:
    """What there is to be told that it is gone."""
    sql = """
    select full_name, avatar, timezone, exists (select from user_status where user_id = $1) as status,
        array(select field_id from profile_value where user_id = $1 order by field_id) as field_ids
    from account where id = $1
    """
    row = await reader.fetchrow(sql, user_id)
    assert row is not None
    return Shown(**row)


async def parts_of_uploads(reader: Reader, ids: Sequence[int]) -> list[str]:
    """Objects of uploads of theirs that are not finished."""
    sql = "select unnest(keys) as key from resumable_upload where owner_id = any($1::bigint[])"
    return [row["key"] for row in await reader.fetch(sql, ids)]


async def delete_exports(tx: Transaction, ids: Sequence[int]) -> list[str | None]:
    """Delete the archives that they asked for; returns their objects. One that is being made ends without one: what is written
    of it is its maker's, who has announced it, or it would not be known if the maker dies."""
    sql = "delete from export_job where user_id = any($1::bigint[]) returning case when ended is not null then key end as key"
    return [row["key"] for row in await tx.fetch(sql, ids)]


async def end_exports_of_others(tx: Transaction, realm_id: int, ids: Sequence[int]) -> list[str | None]:
    """End the archives in the store that have these people in them: whatever others of the organization asked for before these
    were erased; returns their objects. One that is being made ends without one, as above."""
    sql = """
    update export_job set ended = coalesce(ended, now()), deleted = case when ended is not null then now() end,
        failed = case when ended is null then 'Somebody was erased while it was being made. Ask for another one.' end
    where realm_id = $1 and user_id <> all($2::bigint[]) and failed is null and deleted is null
        and asked < coalesce((select finished from erasure where user_id = any($2)), now())
    returning case when deleted is not null then key end as key
    """
    return [row["key"] for row in await tx.fetch(sql, realm_id, ids)]


async def files_after(reader: Reader, ids: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """The owner and id of files of theirs."""
    sql = "select owner_id, id from attachment where owner_id = any($1::bigint[]) order by id limit $2"
    return [(row["owner_id"], row["id"]) for row in await reader.fetch(sql, ids, limit)]


async def shared_account(tx: Transaction, realm_id: int) -> tuple[int, bool]:
    """The account that stands for all who are gone; made if there is none, and whether it was."""
    sql = """
    with new as (
        insert into account (realm_id, email, email_key, full_name, is_active, is_erased)
        values ($1, $2, $2, $3, false, true) on conflict (realm_id, email_key) do nothing returning id
    )
    select id, true as is_new from new
    union all select id, false from account where realm_id = $1 and email_key = $2
    """
    row = await tx.fetchrow(sql, realm_id, SHARED_ADDRESS, SHARED_NAME)
    if row is None:  # somebody else has made it at this moment
        again = "select id from account where realm_id = $1 and email_key = $2"
        return int(await tx.fetchval(again, realm_id, SHARED_ADDRESS)), False
    return row["id"], row["is_new"]
