"""Asking for exports, and deleting them."""

import time

from tertulia.archives.exports import queries
from tertulia.archives.exports.bounds import OF_PERSON, OF_REALM
from tertulia.archives.exports.events import tell_changed
from tertulia.archives.exports.model import SCOPES, ExportType, Job
from tertulia.archives.exports.rules import may_have
from tertulia.archives.form.manifest import Scope
from tertulia.content.storage import orphans
from tertulia.files.downloads.tickets import is_valid, ticket_for
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal, not_found
from tertulia.organization.audit_log import Act, Word, note, realm, user
from tertulia.organization.realms.changing.actions import check_is_administrator
from tertulia.organization.realms.queries import hold_role

CALLED_OFF = "It was called off."


async def ask_for_export(tx: Transaction, caller: Caller, kind: ExportType) -> int:
    """Have the worker export the organization, as an administrator who has proved who they are."""
    now = await check_is_administrator(tx, caller)
    scope = SCOPES[kind]
    if not may_have(now.role, scope):
        raise Refusal("Must be an organization owner", code="UNAUTHORIZED_PRINCIPAL")
    await check_room(tx, OF_REALM, caller.realm_id)
    job = await _ask(tx, caller, scope, "An export of your organization is being made already. Wait until it is ready.")
    note(tx, job.realm_id, Act.EXPORT_ASKED, realm(job.realm_id), **_about(job))
    await tell_changed(tx, job)
    return job.id


async def ask_for_own(tx: Transaction, caller: Caller) -> int:
    """Have the worker export what is the caller's own, who has proved who they are."""
    if await hold_role(tx, caller.user_id) is None:
        raise Refusal("Insufficient permission")
    await check_room(tx, OF_PERSON, caller.user_id)
    job = await _ask(tx, caller, "mine", "A copy of your data is being made already. Wait until it is ready.")
    note(tx, job.realm_id, Act.EXPORT_ASKED, user(job.user_id), **_about(job))
    return job.id


async def _ask(tx: Transaction, caller: Caller, scope: Scope, refusal: str) -> Job:
    export_id = await queries.insert_job(tx, caller.realm_id, caller.user_id, scope)
    if export_id is None:
        raise Refusal(refusal, code="EXPORT_PENDING")
    job = await queries.find_job(tx, caller.realm_id, export_id)
    assert job is not None
    return job


async def remove_export(tx: Transaction, caller: Caller, export_id: int) -> None:
    """Delete an archive of the organization, or call it off while it is being made."""
    await check_is_administrator(tx, caller)
    job = await queries.lock_job(tx, caller.realm_id, export_id)
    if job is None or job.scope == "mine":
        raise _no_export()
    await _remove(tx, job)


async def remove_own(tx: Transaction, caller: Caller, export_id: int) -> None:
    """Delete the archive of what is the caller's own, or call it off."""
    job = await queries.lock_job(tx, caller.realm_id, export_id)
    if job is None or job.scope != "mine" or job.user_id != caller.user_id:
        raise _no_export()
    await _remove(tx, job)


async def _remove(tx: Transaction, job: Job) -> None:
    if job.ended is None:
        # Whoever works on it finds that it is no longer theirs, and leaves nothing behind.
        await queries.fail_job(tx, job.id, CALLED_OFF)
    elif job.is_there:
        await forget_archive(tx, job)
    else:
        raise Refusal("This export is gone already.")
    about = user(job.user_id) if job.scope == "mine" else realm(job.realm_id)
    note(tx, job.realm_id, Act.EXPORT_DELETED, about, **_about(job))
    await tell_changed(tx, job)


async def forget_archive(tx: Transaction, job: Job) -> None:
    """From the commit on nobody fetches it; the object follows."""
    assert job.key is not None
    await queries.forget_file(tx, job.id)
    await orphans.drop(tx, [job.key])


async def access_archive(reader: Reader, caller: Caller, export_id: int, name: str) -> Job:
    """The one way to an archive: what is out of reach looks like what does not exist."""
    job = await queries.find_job(reader, caller.realm_id, export_id)
    if job is None or not _reaches(job, caller.user_id, caller.role) or job.file_name != name:
        raise not_found()
    return job


def ticket_of(job: Job, user_id: int, now: float) -> str:
    """What lets somebody fetch it for a minute without a login, by a program that has none."""
    assert job.key is not None
    return ticket_for(job.key, _signed(job, user_id), now)


async def access_by_ticket(tx: Transaction, user_id: int, ticket: str, export_id: int, name: str) -> Job:
    """The same for whoever bears a ticket of somebody, who may still have the archive."""
    job = await queries.find_by_id(tx, export_id)
    if job is None or job.key is None or not is_valid(ticket, job.key, _signed(job, user_id), time.time()):
        raise not_found()
    role = await hold_role(tx, user_id)
    if role is None or not _reaches(job, user_id, role) or job.file_name != name:
        raise not_found()
    return job


def _reaches(job: Job, user_id: int, role: int) -> bool:
    is_allowed = job.user_id == user_id if job.scope == "mine" else may_have(role, job.scope)
    return job.is_there and is_allowed


def _signed(job: Job, user_id: int) -> str:
    return f"export {job.id} {user_id}"


def find_lost_right(job: Job, role: int | None) -> str | None:
    """Why whoever asked may not have it any more, with their role if they are active; None: they may."""
    if role is None:
        return "Whoever asked for it has no active account any more."
    if job.scope != "mine" and not may_have(role, job.scope):
        return "Whoever asked for it may not have it any more."
    return None


def _about(job: Job) -> dict[str, tuple[object, object]]:
    return {"export_id": (None, job.id), "scope": (None, Word(job.scope))}


def _no_export() -> Refusal:
    return Refusal("There is no such export.")
