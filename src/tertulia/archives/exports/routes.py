"""Endpoints about exports."""

import time
from urllib.parse import quote

import msgspec

from tertulia.archives.exports import actions, queries
from tertulia.archives.exports.model import ExportRecord, ExportType, Job, OwnExportRecord, own_record_of, record_of
from tertulia.content.storage import Store
from tertulia.files.downloads.routes import TemporaryLink
from tertulia.files.downloads.serving import serve
from tertulia.files.uploads.kinds import UNKNOWN
from tertulia.kernel.audit import Proved
from tertulia.kernel.auth import Administrator, Human, HumanAdministrator
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Reply, delete, get, post
from tertulia.organization.audit_log import Act, Word, note, realm, user
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.reauthentication import Proof, Reauthentication


class Exports(msgspec.Struct):
    """The answer of GET /export/realm."""

    exports: list[ExportRecord]


class OwnExports(msgspec.Struct):
    """The answer of GET /export/own."""

    exports: list[OwnExportRecord]


class Asked(msgspec.Struct):
    """The answer of POST /export/realm and POST /export/own."""

    id: int


class Consent(msgspec.Struct):
    """Whether somebody agrees to have their private data in an export."""

    user_id: int
    consented: bool
    email_address_visibility: int


class Consents(msgspec.Struct):
    """The answer of GET /export/realm/consents."""

    export_consents: list[Consent]


@post("/export/realm")
async def ask_for_export(
    caller: HumanAdministrator,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    export_type: ExportType = ExportType.PUBLIC,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> Asked:
    """Have an archive made of the organization: with public data (1), or, for owners, also with the private data of those who
    agree (2). Needs your password, or a `code` or `passkey` of your second factor.

    It is made in the background: `realm_export` events tell how far it is, and a message tells when it is ready.
    """
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        return Asked(await actions.ask_for_export(tx, caller, export_type))


@get("/export/realm")
async def get_exports(caller: Administrator, reader: Reader) -> Exports:
    """The exports of the organization that were asked for in the last months, oldest first."""
    return Exports([record_of(job) for job in await queries.exports_of_realm(reader, caller.realm_id)])


@delete("/export/realm/{export_id}")
async def delete_export(caller: Administrator, tx: Transaction, *, export_id: int) -> None:
    """Delete an export of the organization; one that is still being made is called off."""
    await actions.remove_export(tx, caller, export_id)


@post("/export/own")
async def ask_for_own_export(
    caller: Human,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> Asked:
    """Have an archive made of what is your own: profile, settings, drafts and files, your direct conversations, and what you
    wrote, reacted to or starred in channels that you can read. Once a day. Needs your password, or a `code` or `passkey` of
    your second factor.

    It is made in the background; a message tells when it is ready. Nobody else can fetch it.
    """
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        return Asked(await actions.ask_for_own(tx, caller))


@get("/export/own")
async def get_own_exports(caller: Human, reader: Reader) -> OwnExports:
    """The archives of what is your own that you asked for in the last months, oldest first."""
    jobs = await queries.exports_of_person(reader, caller.realm_id, caller.user_id)
    return OwnExports([own_record_of(job) for job in jobs])


@delete("/export/own/{export_id}")
async def delete_own_export(caller: Human, tx: Transaction, *, export_id: int) -> None:
    """Delete an archive of what is your own; one that is still being made is called off."""
    await actions.remove_own(tx, caller, export_id)


@get("/exports/{export_id}/{name}", prefix="", listed=False)
async def get_archive(
    caller: Human, call: Call, database: Database, store: Store, *, export_id: int, name: str
) -> Reply:
    """The archive itself, for whoever may ask for one like it. Its `export_url`."""
    async with database.transaction() as tx:
        job = await actions.access_archive(tx, caller, export_id, name)
        _note_fetched(tx, job, caller.user_id)
    return await _serve(call, store, job)


@get("/exports/{export_id}/{name}")
async def get_export_link(caller: Human, reader: Reader, *, export_id: int, name: str) -> TemporaryLink:
    """A link to an archive that works for a minute without logging in, as long as you may have it: for programs that download
    and cannot log in."""
    job = await actions.access_archive(reader, caller, export_id, name)
    ticket = actions.ticket_of(job, caller.user_id, time.time())
    return TemporaryLink(f"/exports/temporary/{job.id}/{caller.user_id}/{ticket}/{quote(job.file_name)}")


@get("/exports/temporary/{export_id}/{user_id}/{ticket}/{name}", prefix="", listed=False)
async def get_archive_by_ticket(
    call: Call, database: Database, store: Store, *, export_id: int, user_id: int, ticket: str, name: str
) -> Reply:
    """The archive itself, for whoever holds a link that is not older than a minute."""
    async with database.transaction() as tx:
        job = await actions.access_by_ticket(tx, user_id, ticket, export_id, name)
        _note_fetched(tx, job, user_id)
    return await _serve(call, store, job)


def _note_fetched(tx: Transaction, job: Job, user_id: int) -> None:
    about = user(job.user_id) if job.scope == "mine" else realm(job.realm_id)
    changes = {"export_id": (None, job.id), "scope": (None, Word(job.scope))}
    note(tx, job.realm_id, Act.EXPORT_FETCHED, about, Proved(user_id), **changes)


async def _serve(call: Call, store: Store, job: Job) -> Reply:
    assert job.key is not None
    assert job.size is not None
    return await serve(call, store, job.key, name=job.file_name, content_type=UNKNOWN, size=job.size)


@get("/export/realm/consents")
async def get_consents(caller: Administrator, reader: Reader) -> Consents:
    """Which of the active people have set `allow_private_data_export`."""
    sql = """
    select id as user_id, coalesce((settings->>'allow_private_data_export')::bool, false) as consented,
        email_visibility(account) as email_address_visibility
    from account where realm_id = $1 and is_active and bot_type is null order by id
    """
    return Consents([Consent(**row) for row in await reader.fetch(sql, caller.realm_id)])
