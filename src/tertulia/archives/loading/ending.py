"""The last transaction of an import: what would act by itself, what is counted, and then everybody sees it."""

import msgspec

from tertulia.archives.form import kinds
from tertulia.archives.loading.beginning import Begun
from tertulia.archives.loading.credentials import write_credentials
from tertulia.archives.loading.furnishing import copy
from tertulia.archives.loading.rendering import Renderer
from tertulia.archives.loading.rows import place_of
from tertulia.archives.loading.rules import settings_of, user_settings
from tertulia.archives.loading.shifts import Spans
from tertulia.archives.reading.archive import Archive
from tertulia.kernel.db import Database, Transaction
from tertulia.messaging.reminders.actions import MAX_NOTE_LENGTH
from tertulia.organization.audit_log import Act, note, realm

# Who belongs to a conversation, and of whom the archive does not say what they have read: all of it.
_READ_ALL = """
insert into read_state (conversation_id, user_id, read, history)
select belonging.id, belonging.user_id,
    case when last_seq > 0 then int8multirange(int8range(1, last_seq + 1)) else '{}' end, int8multirange(int8range(1, null))
from (
    select channel_id as id, user_id from subscription join channel on channel.id = channel_id
    where channel.realm_id = $1 and is_active
    union all
    select id, unnest(participants) from conversation where realm_id = $1 and participants is not null
) as belonging join conversation on conversation.id = belonging.id
where not exists (select from read_state where conversation_id = belonging.id and read_state.user_id = belonging.user_id)
"""
_COUNT_SUBSCRIBERS = """
update channel set subscriber_count = (
    select count(*) from subscription join account on account.id = user_id
    where channel_id = channel.id and subscription.is_active and account.is_active
) where realm_id = $1
"""
_RETENTION = """
update channel set message_retention_days = kept.days from unnest($1::bigint[], $2::int[]) as kept(id, days)
where channel.id = kept.id
"""
_SPACE = """
insert into upload_space (realm_id, used) select $1, coalesce(sum(size), 0) from attachment where realm_id = $1
on conflict (realm_id) do update set used = excluded.used
"""
# What begins with a line below is the server's own.
_SHOW = """
update realm set name = $4, description = $5, user_defaults = $3::text::jsonb, is_active = true,
    settings = $2::text::jsonb || (
        select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(settings) where starts_with(key, '_')
    )
where id = $1
"""
_TABLES = "account, channel, conversation, subscription, topic, message, message_mark, read_state, reaction, attachment"


async def finish(
    tx: Transaction,
    archive: Archive,
    organization: kinds.Organization,
    spans: Spans,
    begun: Begun,
    renderer: Renderer,
) -> dict[str, int]:
    """From the commit on the organization is there. Returns what did not come."""
    realm_id, shifts = begun.realm_id, begun.shifts
    for statement in (_READ_ALL, _COUNT_SUBSCRIBERS, _SPACE):
        await tx.execute(statement, realm_id)
    kept = [(one.id + shifts.conversation, one.message_retention_days) for one in archive.of(kinds.Channel)]
    kept = [(id, days) for id, days in kept if days is not None]
    await tx.execute(_RETENTION, [id for id, _ in kept], [days for _, days in kept])
    await _write_scheduled(tx, archive, begun, renderer)
    lost = await _write_reminders(tx, archive, spans, begun, renderer)
    await write_credentials(tx, archive, spans, begun)
    settings = msgspec.json.encode(settings_of(organization, shifts, spans)).decode()
    defaults = msgspec.json.encode(user_settings(organization.user_defaults, "The organization")).decode()
    await tx.execute(_SHOW, realm_id, settings, defaults, organization.name, organization.description)
    await tx.execute("update realm_import set finished = now(), renews = false where realm_id = $1", realm_id)
    if begun.renews:
        note(tx, realm_id, Act.REALM_CHANGED, realm(realm_id), is_active=(False, True))
    else:
        note(tx, realm_id, Act.REALM_CREATED, realm(realm_id), name=(None, organization.name))
    return lost


async def _write_scheduled(tx: Transaction, archive: Archive, begun: Begun, renderer: Renderer) -> None:
    rows = []
    for one in archive.of(kinds.ScheduledMessage):
        author = one.user_id + begun.shifts.person
        texts = renderer.text(one.content, author)
        place = place_of(one, begun.shifts)
        about = (one.client, one.read, one.due, one.failed)
        rows.append((one.id + begun.shifts.message, begun.realm_id, author, *place, one.topic, *texts, *about))
    columns = "id realm_id user_id channel_id user_ids topic content rendered client read due failed"
    await copy(tx, "scheduled_message", columns, rows)


async def _write_reminders(
    tx: Transaction, archive: Archive, spans: Spans, begun: Begun, renderer: Renderer
) -> dict[str, int]:
    """One of a message outside the archive could come to mean another message here."""
    rows, lost = [], 0
    for one in archive.of(kinds.Reminder):
        if not spans.has("message", one.message_id):
            lost += 1
            continue
        author = one.user_id + begun.shifts.person
        text, html = renderer.text(one.note, author) if one.note else ("", "")
        texts = (text[:MAX_NOTE_LENGTH], html)  # ids in it may have become longer
        about = (begun.realm_id, author, one.message_id + begun.shifts.message, *texts, one.due)
        rows.append((one.id + begun.shifts.reminder, *about))
    await copy(tx, "reminder", "id realm_id user_id message_id note rendered_note due", rows)
    return {"reminders of messages that the archive does not have": lost} if lost else {}


async def analyze(database: Database) -> None:
    """What autovacuum would do some minutes later: without it the planner thinks the new rows are few."""
    async with database.pool.acquire() as connection:
        await connection.execute("set statement_timeout = 0")
        await connection.execute(f"analyze {_TABLES}")
