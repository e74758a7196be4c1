"""A newer archive of an organization that came from one: what it has takes the place of what was there, as long as nobody has
written here. People keep what lets them in: passwords, keys, sessions, second factors.
"""

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.loading.beginning import Begun, Whole, digest_of, hold_ids, reserve, reserving, shifts_of
from tertulia.archives.loading.shifts import Shifts, Spans
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
_KEEP_ALL = "update realm set settings = settings - 'message_retention_days' where id = $1"
_OF_REALM = "realm_id = $1 and id > $2"
_OF_PEOPLE = "id > $2 and user_id in (select id from account where realm_id = $1)"
_OF_MESSAGES = "id > $2 and message_id in (select id from message where realm_id = $1)"
_OF_TOPICS = """
id > $2 and topic_id in (select topic.id from topic join channel on channel.id = conversation_id where realm_id = $1)
"""
_MADE_HERE = (
    ("people", "account", "person", _OF_REALM + " and system_bot is null"),
    ("groups, or settings that name some", "user_group", "group", _OF_REALM + " and not is_system"),
    ("profile fields", "profile_field", "field", _OF_REALM),
    ("emoji", "custom_emoji", "emoji", _OF_REALM),
    ("linkifiers", "linkifier", "linkifier", _OF_REALM),
    ("playgrounds", "playground", "playground", _OF_REALM),
    ("folders", "channel_folder", "folder", _OF_REALM),
    ("conversations", "conversation", "conversation", _OF_REALM),
    ("topics", "topic", "topic", "id > $2 and conversation_id in (select id from channel where realm_id = $1)"),
    ("files", "attachment", "file", _OF_REALM),
    ("messages", "message", "message", _OF_REALM),
    ("changes of messages", "message_revision", "change", f"{_OF_MESSAGES} or {_OF_TOPICS}"),
    ("answers to polls", "submessage", "submessage", _OF_MESSAGES),
    ("drafts", "draft", "draft", _OF_PEOPLE),
    ("snippets", "saved_snippet", "snippet", _OF_PEOPLE),
    ("reminders", "reminder", "reminder", _OF_REALM),
    ("scheduled messages", "scheduled_message", "message", _OF_REALM),
    # No archive has these: whatever there is was made here.
    (
        "addresses for mail",
        "channel_address",
        "",
        "id > $2 and channel_id in (select id from channel where realm_id = $1)",
    ),
    ("people who were erased", "account", "", _OF_REALM + " and is_erased"),
    ("groups of a directory", "scim_group", "", "realm_id = $1 and group_id > $2"),
)
"""What is called so, its table, its family, and which rows of an organization were made after so many ids of the family."""


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
        for called, table, family, condition in _MADE_HERE
        if await reader.fetchval(
            f"select exists (select from {table} where {condition})",  # noqa: S608
            whole.realm_id,
            reserved.get(family, 0),
        )
    ]
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
    # Nothing may be deleted while the rest still comes: what refers to it could not come. The last stage says how long.
    await tx.execute(_KEEP_ALL, whole.realm_id)
    return Begun(whole.realm_id, shifts, CLEARING, 0, goes_on=False, renews=True)


def shifts_then(whole: Whole, now: Shifts, spans: Spans) -> Shifts:
    """Which shifts a newer archive would get: those of the older one, and for new kinds those of this moment."""
    fresh = {family: getattr(now, family) for family in spans.found if family not in (whole.reserved or {})}
    return msgspec.structs.replace(whole.shifts, **fresh)
