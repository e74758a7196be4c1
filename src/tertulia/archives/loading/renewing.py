"""A newer archive of an organization that came from one: what it has takes the place of what was there, as long as nobody has
written here. People keep what lets them in: passwords, keys, sessions, second factors.
"""

from collections.abc import Mapping

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.loading.beginning import Begun, Whole, digest_of, hold_ids, reserve, reserving, shifts_of
from tertulia.archives.loading.shifts import TABLES, Shifts, Spans
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.organization.realms.actions import switch_realm
from tertulia.organization.realms.freezing import wait_for_writers

CLEARING = "clearing"
"""The first stage: what the older archive brought goes, but for people."""
WRITERS_SECONDS = 60.0
_RENEW = """
update realm_import set source = $2, digest = $3, shifts = $4::text::jsonb, stage = $5, lines = 0, started = now(),
    finished = null, moment = $6, scope = $7, reserved = $8::text::jsonb, renews = true
where realm_id = $1 and digest = $9 and finished is not null returning true
"""
_OF_REALM = "realm_id = $1 and id > $2"
_OF_PEOPLE = "id > $2 and user_id in (select id from account where realm_id = $1)"
_OF_MESSAGES = "id > $2 and message_id in (select id from message where realm_id = $1)"
_OF_TOPICS = """
id > $2 and topic_id in (select topic.id from topic join channel on channel.id = conversation_id where realm_id = $1)
"""
_WRITTEN: Mapping[str, tuple[str, str]] = {
    "person": ("people", _OF_REALM + " and system_bot is null"),
    "group": ("groups, or settings that name some", _OF_REALM + " and not is_system"),
    "field": ("profile fields", _OF_REALM),
    "emoji": ("emoji", _OF_REALM),
    "linkifier": ("linkifiers", _OF_REALM),
    "playground": ("playgrounds", _OF_REALM),
    "folder": ("folders", _OF_REALM),
    "conversation": ("conversations", _OF_REALM),
    "topic": ("topics", "conversation_id in (select id from channel where realm_id = $1) and id > $2"),
    "file": ("files", _OF_REALM),
    "message": ("messages", _OF_REALM),
    "change": ("changes of messages", " or ".join((_OF_MESSAGES, _OF_TOPICS))),
    "submessage": ("answers to polls", _OF_MESSAGES),
    "draft": ("drafts", _OF_PEOPLE),
    "snippet": ("snippets", _OF_PEOPLE),
    "reminder": ("reminders", _OF_REALM),
}
"""Of each family what it is called, and which of its rows of an organization were made after so many ids."""
_ALSO = {
    "scheduled messages": "select exists (select from scheduled_message where realm_id = $1 and id > $2)",
    "addresses for mail": """
    select exists (select from channel_address join channel on channel.id = channel_id where realm_id = $1 and $2 >= 0)
    """,
    "people who were erased": "select exists (select from account where realm_id = $1 and is_erased and $2 >= 0)",
    "groups of a directory": "select exists (select from scim_group where realm_id = $1 and $2 >= 0)",
}


async def renew(database: Database, whole: Whole, manifest: Manifest, spans: Spans) -> Begun:
    """Hide the organization, and let the import begin that brings it up to date. ArchiveFailed if that must not be."""
    check(whole, manifest, spans)
    async with database.transaction() as tx:
        await switch_realm(tx, whole.realm_id, is_active=False)
    try:
        # Whoever was let in before has ended, one way or the other: from now on nobody writes.
        if busy := await wait_for_writers(database, WRITERS_SECONDS):
            raise ArchiveFailed(f"Somebody may still write there: {', '.join(busy)}. Try again later.")
        async with database.reader() as reader:
            await _check_nobody_wrote(reader, whole)
        return await reserving(database, lambda tx: _write(tx, whole, manifest, spans))
    except BaseException:
        async with database.transaction() as tx:
            await switch_realm(tx, whole.realm_id, is_active=True)
        raise


def check(whole: Whole, manifest: Manifest, spans: Spans) -> None:
    """Whether it is a newer archive of the same organization, whose ids have room."""
    if manifest.scope == "moving":
        raise ArchiveFailed("There is an organization already, and a moving archive makes a new one.")
    when = f"{whole.finished:%Y-%m-%d %H:%M} UTC"
    if whole.digest == digest_of(manifest):
        raise ArchiveFailed(f"This archive was imported there on {when}. Name another subdomain to have it twice.")
    if whole.source != manifest.source or spans.found["realm"][0] + whole.shifts.realm != whole.realm_id:
        raise ArchiveFailed(
            f"The organization there was imported on {when}, and is another one than this archive has. Name another"
            " subdomain."
        )
    if not manifest.source.startswith("tertulia:"):
        # An account would come to be somebody else's, with the password of who was there before.
        raise ArchiveFailed(
            "The archive was converted from another program, and the next one may count people and messages anew. Name"
            " another subdomain."
        )
    if whole.moment is None or whole.reserved is None:
        raise ArchiveFailed(
            "The organization there was imported by an older version, which kept no room for what is newer. Name"
            " another subdomain."
        )
    if whole.moment >= manifest.moment:
        raise ArchiveFailed(
            f"The archive is of {manifest.moment:%Y-%m-%d %H:%M:%S} UTC, and what is there of"
            f" {whole.moment:%Y-%m-%d %H:%M:%S}: it brings nothing new."
        )
    if whole.scope != manifest.scope:
        raise ArchiveFailed(
            f"What is there has the scope {whole.scope}, and the archive {manifest.scope}. Export it with --scope"
            f" {whole.scope}."
        )
    if not whole.is_active:
        raise ArchiveFailed("The organization there is deactivated. `tertulia realm reactivate` comes first.")
    for family, (_, last) in spans.found.items():
        room = whole.reserved.get(family)
        if room is not None and last + getattr(whole.shifts, family) > room:
            raise ArchiveFailed(
                f"So much has come since that the ids kept free do not suffice ({family}). Name another subdomain."
            )


async def _check_nobody_wrote(reader: Reader, whole: Whole) -> None:
    reserved = whole.reserved or {}
    found = [
        called
        for family, (called, condition) in _WRITTEN.items()
        if await reader.fetchval(
            f"select exists (select from {TABLES[family]} where {condition})",  # noqa: S608
            whole.realm_id,
            reserved.get(family, 0),
        )
    ]
    last = reserved.get("message", 0)
    found += [called for called, sql in _ALSO.items() if await reader.fetchval(sql, whole.realm_id, last)]
    if found:
        raise ArchiveFailed(
            f"Somebody has written here since: there are {', '.join(found)}. A newer archive would take their place."
            " Name another subdomain."
        )


async def _write(tx: Transaction, whole: Whole, manifest: Manifest, spans: Spans) -> Begun:
    """Kinds that the older archive had none of get their ids now."""
    before = whole.reserved or {}
    fresh = Spans()
    fresh.found = {family: span for family, span in spans.found.items() if family not in before}
    await hold_ids(tx, fresh.found)
    shifts = shifts_then(whole, await shifts_of(tx, fresh), fresh)
    reserved = before | await reserve(tx, fresh, shifts)
    archive = (manifest.source, digest_of(manifest), msgspec.json.encode(shifts).decode(), CLEARING)
    room = (manifest.moment, manifest.scope, msgspec.json.encode(reserved).decode())
    if not await tx.fetchval(_RENEW, whole.realm_id, *archive, *room, whole.digest):
        raise ArchiveFailed("Another import has been there meanwhile. Begin again.")
    return Begun(whole.realm_id, shifts, CLEARING, 0, goes_on=False, renews=True)


def shifts_then(whole: Whole, now: Shifts, spans: Spans) -> Shifts:
    """Which shifts a newer archive would get: those of the older one, and for new kinds those of this moment."""
    fresh = {family: getattr(now, family) for family in spans.found if family not in (whole.reserved or {})}
    return msgspec.structs.replace(whole.shifts, **fresh)
