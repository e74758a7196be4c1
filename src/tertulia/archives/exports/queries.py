"""SQL of exports: one statement per function."""

from tertulia.archives.exports.model import KEEP_DAYS, Job
from tertulia.archives.form.manifest import Scope
from tertulia.kernel.db import Reader, Transaction

KEEP_ROWS_DAYS = 90
"""So long the list remembers an export."""
MOST_LISTED = 100
WAITING = "(select due from export_job where ended is null) as waiting_exports"
_COLUMNS = ", ".join(Job.__struct_fields__)


async def insert_job(tx: Transaction, realm_id: int, user_id: int, scope: Scope) -> int | None:
    """Ask for one; None: one is being made already."""
    sql = "insert into export_job (realm_id, user_id, scope) values ($1, $2, $3) on conflict do nothing returning id"
    found: int | None = await tx.fetchval(sql, realm_id, user_id, scope)
    return found


async def exports_of_realm(reader: Reader, realm_id: int) -> list[Job]:
    """The latest of the organization that are remembered: a list that an event can hold."""
    sql = f"""
    select * from (
        select {_COLUMNS} from export_job where realm_id = $1 and scope <> 'mine' order by id desc limit {MOST_LISTED}
    ) as latest order by id
    """
    return [Job(**row) for row in await reader.fetch(sql, realm_id)]


async def exports_of_person(reader: Reader, realm_id: int, user_id: int) -> list[Job]:
    """Those that somebody asked for of what is their own."""
    sql = f"select {_COLUMNS} from export_job where realm_id = $1 and user_id = $2 and scope = 'mine' order by id"
    return [Job(**row) for row in await reader.fetch(sql, realm_id, user_id)]


async def find_job(reader: Reader, realm_id: int, export_id: int) -> Job | None:
    """An export of this organization, or of somebody in it."""
    row = await reader.fetchrow(
        f"select {_COLUMNS} from export_job where realm_id = $1 and id = $2", realm_id, export_id
    )
    return Job(**row) if row else None


async def find_by_id(reader: Reader, export_id: int) -> Job | None:
    """An export of whatever organization."""
    row = await reader.fetchrow(f"select {_COLUMNS} from export_job where id = $1", export_id)
    return Job(**row) if row else None


async def lock_job(tx: Transaction, realm_id: int, export_id: int) -> Job | None:
    """The same, held."""
    sql = f"select {_COLUMNS} from export_job where realm_id = $1 and id = $2 for no key update"
    row = await tx.fetchrow(sql, realm_id, export_id)
    return Job(**row) if row else None


async def claim_job(tx: Transaction, key: str, lease_seconds: float) -> Job | None:
    """The next one that nobody works on, with the object that will be written.

    Organizations take turns, whoever asks how often in one of them; in each, its own export comes before those of people.
    """
    sql = f"""
    with turn as materialized (
        select realm_id, (select max(ended) from export_job where export_job.realm_id = waiting.realm_id) as served
        from (select distinct realm_id from export_job where ended is null and due <= now()) as waiting
    )
    update export_job set due = now() + make_interval(secs => $2), attempts = attempts + 1, key = $1,
        messages_done = 0, messages_total = null
    where id = (
        select id from export_job join turn using (realm_id) where ended is null and due <= now()
        order by served nulls first, scope = 'mine', due, id limit 1 for update of export_job skip locked
    ) returning {_COLUMNS}
    """
    row = await tx.fetchrow(sql, key, lease_seconds)
    return Job(**row) if row else None


async def extend_lease(tx: Transaction, job: Job, lease_seconds: float, done: int, total: int | None) -> bool:
    """Whoever works on it is alive, and so far; False: it is no longer theirs."""
    sql = """
    update export_job set due = now() + make_interval(secs => $3), messages_done = $4, messages_total = $5
    where id = $1 and key = $2 and ended is null returning true
    """
    return bool(await tx.fetchval(sql, job.id, job.key, lease_seconds, done, total))


async def hold_lease(tx: Transaction, job: Job) -> bool:
    """Whether it is still theirs, until the commit."""
    sql = "select true from export_job where id = $1 and key = $2 and ended is null for no key update"
    return bool(await tx.fetchval(sql, job.id, job.key))


async def give_back(tx: Transaction, job: Job, seconds: float) -> None:
    """Somebody else may take it up after that time; this try does not count."""
    sql = """
    update export_job set due = now() + make_interval(secs => $3), attempts = attempts - 1
    where id = $1 and key = $2 and ended is null
    """
    await tx.execute(sql, job.id, job.key, seconds)


async def put_off(tx: Transaction, job: Job, seconds: float) -> None:
    """To be tried once more after that time."""
    await tx.execute("update export_job set due = now() + make_interval(secs => $2) where id = $1", job.id, seconds)


async def finish_job(tx: Transaction, job: Job, size: int, messages: int) -> None:
    """It is there."""
    sql = f"""
    update export_job set ended = now(), size = $2, messages_done = $3, messages_total = $3,
        expires = now() + make_interval(days => {KEEP_DAYS})
    where id = $1
    """
    await tx.execute(sql, job.id, size, messages)


async def fail_job(tx: Transaction, export_id: int, reason: str) -> None:
    """There will be none."""
    await tx.execute("update export_job set ended = now(), failed = $2 where id = $1", export_id, reason)


async def forget_file(tx: Transaction, export_id: int) -> None:
    """It can no longer be fetched."""
    await tx.execute("update export_job set deleted = now() where id = $1", export_id)


async def lock_former(tx: Transaction, job: Job) -> list[Job]:
    """Older archives of what is the same person's own, held."""
    sql = f"""
    select {_COLUMNS} from export_job where user_id = $1 and scope = 'mine' and id <> $2
        and ended is not null and failed is null and deleted is null
    order by id for no key update
    """
    return [Job(**row) for row in await tx.fetch(sql, job.user_id, job.id)]


async def lock_consented(tx: Transaction, realm_id: int, user_id: int) -> list[Job]:
    """Those that somebody who agreed is in, or will be, held: nobody begins one before they are out of it."""
    sql = f"""
    select {_COLUMNS} from export_job where realm_id = $1 and scope = 'consenting' and failed is null and deleted is null
        and asked >= (select consented from account where account.id = $2)
    order by id for no key update
    """
    return [Job(**row) for row in await tx.fetch(sql, realm_id, user_id)]


async def find_under_way(tx: Transaction, realm_id: int) -> int | None:
    """The export of the organization that is being made, or waits to be."""
    sql = "select id from export_job where realm_id = $1 and scope <> 'mine' and ended is null"
    found: int | None = await tx.fetchval(sql, realm_id)
    return found


async def begin_anew(tx: Transaction, export_id: int, seconds: float) -> None:
    """As if nobody had begun it, after that time. Whoever works on it finds that it is no longer theirs."""
    sql = """
    update export_job set ended = null, deleted = null, size = null, expires = null, key = null, attempts = 0,
        due = now() + make_interval(secs => $2), messages_done = 0, messages_total = null
    where id = $1
    """
    await tx.execute(sql, export_id, seconds)


async def lock_expired(tx: Transaction, limit: int) -> list[Job]:
    """Those whose time is over, held."""
    sql = f"""
    select {_COLUMNS} from export_job where deleted is null and expires <= now() order by id limit $1
    for no key update skip locked
    """
    return [Job(**row) for row in await tx.fetch(sql, limit)]


async def delete_old(tx: Transaction) -> int:
    """Forget exports that were asked for long ago and are gone."""
    sql = f"""
    with gone as (
        delete from export_job where asked < now() - make_interval(days => {KEEP_ROWS_DAYS})
            and (failed is not null or deleted is not null) returning id
    ) select count(*) from gone
    """
    return int(await tx.fetchval(sql))
