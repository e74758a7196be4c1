"""What the worker does for exports: it makes them, one after the other.

Who works on one extends its lease all the time. If it dies, another begins it anew: an archive is of one moment, so nothing of a
half one can be used. A half object is on the list of orphans and goes by itself.
"""

import asyncio
import secrets

import structlog

from tertulia.archives.errors import ServerBusy
from tertulia.archives.exports import queries
from tertulia.archives.exports.actions import find_lost_right, forget_archive
from tertulia.archives.exports.events import tell_changed
from tertulia.archives.exports.flow import Flow
from tertulia.archives.exports.model import Job
from tertulia.archives.exports.notices import tell_failed, tell_ready
from tertulia.archives.writing.actions import write_archive
from tertulia.archives.writing.scope import Asked
from tertulia.content.storage import Store, StoreUnavailable, orphans
from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.disk import is_nearly_full, room_of_files
from tertulia.kernel.tasks import end_tasks
from tertulia.organization.realms.queries import find_role, hold_role

log = structlog.get_logger()

LEASE_SECONDS = 30.0
BEAT_SECONDS = 2.0
"""How often whoever works on one says so, and how far it is."""
LEFT_SECONDS = 120.0
"""So long after the last beat a half object is left alone."""
MAX_ATTEMPTS = 3
RETRY_SECONDS = 30.0
BUSY_SECONDS = 5.0
"""Until another export has perhaps ended."""
INTERRUPTED = "The server was interrupted several times while it was at it."
FAILED = "The server could not write it. Its operator finds the reason in the log."


class LeaseLost(Exception):
    """Somebody called it off, or another worker has it."""


class _Progress:
    """How far it is, for the next beat."""

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None

    def __call__(self, _text: str, done: int, total: int) -> None:
        self.done, self.total = done, total


async def build_exports(database: Database, store: Store) -> int:
    """Make what was asked for; returns how many were ended, well or not."""
    count = 0
    while (job := await _claim(database)) is not None:
        if not await _work_on(database, store, job):
            break
        count += 1
    return count


async def _claim(database: Database) -> Job | None:
    while True:
        key = f"exports/{secrets.token_hex(24)}"
        async with database.transaction() as tx:
            job = await queries.claim_job(tx, key, LEASE_SECONDS)
            if job is None:
                return None
            # Not held: accounts come before exports, and it is asked again when the archive is ready.
            role = await find_role(tx, job.user_id)
            reason = INTERRUPTED if job.attempts > MAX_ATTEMPTS else find_lost_right(job, role)
            if reason is None:
                await orphans.announce(tx, [key], LEFT_SECONDS)
                await tell_changed(tx, job)
                return job
            await _fail(tx, job, reason)


async def _work_on(database: Database, store: Store, job: Job) -> bool:
    """False: it has to wait."""
    try:
        await _build(database, store, job)
    except asyncio.CancelledError:
        # The worker is asked to stop, and the next one need not wait for the lease.
        await _give_back(database, job, 0.0)
        raise
    except ServerBusy:
        await _give_back(database, job, BUSY_SECONDS)
        return False
    except LeaseLost:
        log.info("an export is no longer ours", export_id=job.id)
        await _leave_nothing(database, job)
    except LOST:
        raise
    except Exception:
        log.exception("an export failed", export_id=job.id, attempt=job.attempts)
        await _try_later(database, job)
    return True


async def _build(database: Database, store: Store, job: Job) -> None:
    _check_room(store)
    progress = _Progress()
    beating = asyncio.create_task(_keep_lease(database, store, job, progress))
    storing = asyncio.create_task(_store(database, store, job, progress))
    try:
        await asyncio.wait({beating, storing}, return_when=asyncio.FIRST_COMPLETED)
        if beating.done():
            beating.result()
        size, messages = storing.result()
    finally:
        await end_tasks([beating, storing])
    await _finish(database, job, size, messages)


async def _store(database: Database, store: Store, job: Job, progress: _Progress) -> tuple[int, int]:
    """Its size, and how many messages are in it."""
    assert job.key is not None
    flow, asked = Flow(), Asked(job.realm_id, job.scope, job.user_id, job.asked)
    writing = asyncio.create_task(flow.filled_by(write_archive(database, store, asked, flow, progress)))
    try:
        size = await store.put(job.key, flow.pieces(), "application/x-tar")
        manifest = await writing
    except StoreUnavailable:
        if writing.done():
            writing.result()  # the store only passes on what went wrong here
        raise
    finally:
        await end_tasks([writing])
    return size, manifest.counts.get("messages", 0)


def _check_room(store: Store) -> None:
    """An export has no quota: it leaves the last of a disk to the messages and files of everybody."""
    room = room_of_files(store.settings)
    if room is not None and is_nearly_full(room.free, room.total):
        raise StoreUnavailable("the disk is nearly full, and exports leave the rest of it to others")


async def _keep_lease(database: Database, store: Store, job: Job, progress: _Progress) -> None:
    assert job.key is not None
    told: tuple[int, int | None] = (0, None)
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        _check_room(store)
        now = (progress.done, progress.total)
        async with database.transaction() as tx:
            if not await queries.extend_lease(tx, job, LEASE_SECONDS, *now):
                raise LeaseLost
            await orphans.announce(tx, [job.key], LEFT_SECONDS)
            if now != told:
                await tell_changed(tx, job)
        told = now


async def _finish(database: Database, job: Job, size: int, messages: int) -> None:
    assert job.key is not None
    async with database.transaction() as tx:
        reason = find_lost_right(job, await hold_role(tx, job.user_id))
        if not await queries.hold_lease(tx, job):
            raise LeaseLost
        if reason is not None:
            await orphans.drop(tx, [job.key])
            await _fail(tx, job, reason)
            return
        if not await orphans.unlist(tx, [job.key]):
            raise StoreUnavailable("the archive was swept away before it was finished")
        await queries.finish_job(tx, job, size, messages)
        if job.scope == "mine":
            # One of each person is enough: what others uploaded is in it as well, and counts for nobody.
            for former in await queries.lock_former(tx, job):
                await forget_archive(tx, former)
        await tell_changed(tx, job)
        await tell_ready(tx, job, size, messages)


async def _fail(tx: Transaction, job: Job, reason: str) -> None:
    await queries.fail_job(tx, job.id, reason)
    await tell_changed(tx, job)
    await tell_failed(tx, job, reason)


async def _try_later(database: Database, job: Job) -> None:
    """After the last try it has failed."""
    assert job.key is not None
    async with database.transaction() as tx:
        await orphans.drop(tx, [job.key])
        if not await queries.hold_lease(tx, job):
            return
        if job.attempts >= MAX_ATTEMPTS:
            await _fail(tx, job, FAILED)
        else:
            await queries.put_off(tx, job, RETRY_SECONDS)


async def _give_back(database: Database, job: Job, seconds: float) -> None:
    assert job.key is not None
    async with database.transaction() as tx:
        await queries.give_back(tx, job, seconds)
        await orphans.drop(tx, [job.key])


async def _leave_nothing(database: Database, job: Job) -> None:
    """An erasure ends exports without a word, since it knows none of their events: so that is told here."""
    assert job.key is not None
    async with database.transaction() as tx:
        await orphans.drop(tx, [job.key])
        await tell_changed(tx, job)
