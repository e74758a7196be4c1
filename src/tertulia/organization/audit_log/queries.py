"""SQL of the audit log: one statement per function. What writes entries is in kernel/audit.py.

Each filter is a range of an index that ends with the entry's number, so that a page costs the same among ten entries and a
million. A time becomes a number first: in one organization both grow together. Several acts are looked for one by one.
"""

from typing import Any

import asyncpg
import msgspec

from tertulia.kernel.bounds import LONGEST_RETENTION
from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.audit_log.model import AuditEntry, Search, Thing

_AT = "select id from audit_entry where realm_id = $1 and created >= to_timestamp({}::float8) order by created limit 1"
_NAMES = """
(select full_name from account where id = found.actor_id and realm_id = $1) as actor_name,
case found.target_kind
    when 'user' then (select full_name from account where id = found.target_id and realm_id = $1)
    when 'channel' then (select name from channel where id = found.target_id and realm_id = $1)
    when 'group' then (select name from user_group where id = found.target_id and realm_id = $1)
end as target_name
"""
_DETAILS = """
(select jsonb_agg(jsonb_build_array(subject_id, address, agent, texts)) from audit_detail where entry_id = found.id)::text
    as details,
exists (
    select from audit_entry as erasure where realm_id = $1 and target_kind = 'user' and act = 'user.erased'
        and target_id in (found.actor_id, found.target_id) and erasure.id > found.id
        and (target_id = found.actor_id or found.target_kind = 'user')
) as is_erased
"""


async def search(reader: Reader, wanted: Search) -> list[AuditEntry]:
    """Entries that match, the newest first, or after a number the oldest first."""
    values: list[object] = [wanted.realm_id]

    def at(value: object) -> str:
        values.append(value)
        return f"${len(values)}"

    conditions = ["realm_id = $1"]
    if wanted.actor_id is not None:
        conditions.append(f"actor_id = {at(wanted.actor_id)}::bigint")
    if wanted.target_type is not None:
        conditions.append(f"target_kind = {at(wanted.target_type)}::text")
    if wanted.target_id is not None:
        conditions.append(f"target_id = {at(wanted.target_id)}::bigint")
    if wanted.since is not None:
        conditions.append(f"id >= ({_AT.format(at(wanted.since))})")
    if wanted.until is not None:
        conditions.append(f"id < coalesce(({_AT.format(at(wanted.until))}), {2**63 - 1})")
    if wanted.before is not None:
        conditions.append(f"id < {at(wanted.before)}::bigint")
    if wanted.after is not None:
        conditions.append(f"id > {at(wanted.after)}::bigint")
    order = f"order by id {'desc' if wanted.after is None else 'asc'} limit {at(wanted.limit)}::integer"
    rows = f"select * from audit_entry where {' and '.join(conditions)}"
    if wanted.acts is not None:
        one = f"{rows} and act = wanted.act {order}"
        rows = f"select one.* from unnest({at(wanted.acts)}::text[]) as wanted(act) cross join lateral ({one}) as one"
    sql = f"""
    select id, extract(epoch from created)::float8 as timestamp, act, actor_id, key_id, session_id, target_kind, target_id,
        changes::text as changes, {_NAMES}, {_DETAILS}
    from ({rows} {order}) as found {order}
    """
    return [_entry(row) for row in await reader.fetch(sql, *values)]


def _entry(row: asyncpg.Record) -> AuditEntry:
    changes: dict[str, Any] = msgspec.json.decode(row["changes"])
    address = agent = None
    for _subject, its_address, its_agent, texts in msgspec.json.decode(row["details"] or "[]"):
        address, agent = its_address or address, its_agent or agent
        changes |= texts
    target = None
    if row["target_kind"] is not None:
        target = Thing(row["target_kind"], row["target_id"], row["target_name"])
    return AuditEntry(
        id=row["id"],
        timestamp=row["timestamp"],
        act=row["act"],
        actor_id=row["actor_id"],
        actor_name=row["actor_name"],
        key_id=row["key_id"],
        session_id=row["session_id"],
        address=address,
        user_agent=agent,
        target=target,
        changes=changes,
        is_erased=row["is_erased"],
    )


# From before there was a longest retention: a time that PostgreSQL cannot write would end the forgetting everywhere.
_LOWER = f"""
update realm set settings = settings || '{{"audit_log_retention_days": {LONGEST_RETENTION}}}'
where (settings->>'audit_log_retention_days')::numeric > {LONGEST_RETENTION}
"""


async def forget_old(tx: Transaction, batch: int) -> int:
    """Delete entries that are older than their organization keeps them; how many."""
    await tx.execute(_LOWER)
    done: int = await tx.fetchval("select audit_forget($1)", batch)
    return done


async def erase(tx: Transaction, realm_id: int, user_id: int) -> int:
    """Delete what names a person, whose erasure is in the log already; how many details."""
    done: int = await tx.fetchval("select audit_erase($1, $2)", realm_id, user_id)
    return done
