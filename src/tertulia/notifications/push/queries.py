"""SQL of Web Push: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.conversations.read_state.marks import Mark, TopicPolicy, Wildcard
from tertulia.conversations.read_state.statements import IS_MUTED, called, calls, in_active_group, marked, muting
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.sealing import SealedColumn
from tertulia.notifications.push.model import Push, Subscription
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.users.statements import is_hidden

ACTIVE_SECONDS = 90
"""Whoever did something so short a time ago sits at a client, which tells them itself."""


PRIVATE_KEY = SealedColumn("push_key", "private_key", row="only_one::int")
AUTH_SECRET = SealedColumn("push_subscription", "auth_secret", row="id")


def _setting(name: str, default: bool) -> str:
    return f"coalesce((account.settings->>'{name}')::boolean, {str(default).lower()})"


_IS_ACTIVE = f"""
exists (select from presence where presence.user_id = account.id
    and presence.active_at > now() - make_interval(secs => {ACTIVE_SECONDS}) offset 0)
"""
# Of a channel they are still in.
_IS_UNREAD = """
exists (select from read_state where read_state.conversation_id = message.conversation_id
    and read_state.user_id = account.id and message.seq <@ read_state.history and not message.seq <@ read_state.read
    and (conversation.participants is not null or upper_inf(read_state.history)) offset 0)
"""
_NAMED = f"exists ({marked(Mark.MENTIONED, 'account.id', 'message')} offset 0)"
_IN_GROUP = f"exists ({in_active_group('account', 'message')} offset 0)"
_CALLED = called("account.id", "message", " offset 0")
_IS_FOLLOWED = f"topic_policy.policy = {TopicPolicy.FOLLOWED}"

# Why somebody is told, the most urgent reason first; null: they are not.
_TRIGGER = f"""
case
    when conversation.participants is not null then
        case when {_setting("enable_offline_push_notifications", True)} then 'direct_message' end
    when {_setting("enable_offline_push_notifications", True)} and ({_NAMED} or {_IN_GROUP}) then 'mentioned'
    when {_setting("enable_offline_push_notifications", True)} and {_CALLED} and (
        ({_IS_FOLLOWED} and {_setting("enable_followed_topic_wildcard_mentions_notify", True)})
        or (coalesce(subscription.wildcard_mentions_notify, {_setting("wildcard_mentions_notify", True)}) and not {IS_MUTED})
    ) then case when {calls(Wildcard.CHANNEL, "message")} then 'stream_wildcard_mentioned' else 'topic_wildcard_mentioned' end
    when {_IS_FOLLOWED} and {_setting("enable_followed_topic_push_notifications", True)} then 'followed_topic'
    when coalesce(subscription.push_notifications, {_setting("enable_stream_push_notifications", False)}) and not {IS_MUTED}
        then 'stream_push'
end
"""

# The messages are held before anything is written: whoever deletes one holds it first as well, and takes these rows with it.
_DECIDE = f"""
with held as materialized (
    select message.id from push_due join message on message.id = push_due.message_id order by message.id limit $1
    for key share of message skip locked for update of push_due skip locked
), due as (
    delete from push_due using held where push_due.message_id = held.id returning push_due.message_id
), told as (
    select message.id as message_id, account.id as user_id, {_TRIGGER} as trigger
    from due join message on message.id = due.message_id
    join conversation on conversation.id = message.conversation_id
    join lateral (
        select distinct user_id from push_subscription where push_subscription.realm_id = message.realm_id
            and (conversation.participants is null or user_id = any(conversation.participants))
    ) as wanting on wanting.user_id <> message.sender_id
    join account on account.id = wanting.user_id and account.is_active and account.bot_type is null
    left join subscription on subscription.user_id = account.id and subscription.channel_id = conversation.id
        and subscription.is_active
    left join topic_policy on topic_policy.user_id = account.id and topic_policy.topic_id = message.topic_id
    where (conversation.participants is not null or subscription.user_id is not null)
        and {_IS_UNREAD} and not {_IS_ACTIVE}
        and not exists ({muting("account.id", "message")} offset 0)
), written as (
    insert into push_call (subscription_id, message_id, trigger)
    select push_subscription.id, told.message_id, told.trigger
    from told join push_subscription on push_subscription.user_id = told.user_id where told.trigger is not null
    on conflict do nothing
)
select count(*) from due
"""

_CLAIM = f"""
with due as (
    select message_id, subscription_id from push_call join push_subscription on push_subscription.id = subscription_id
    where due <= now() and user_id <> all($2::bigint[]) and realm_id <> all($3::bigint[])
    order by due, message_id limit $1 for update of push_call skip locked
), taken as (
    update push_call set attempts = push_call.attempts + 1, due = now() + make_interval(secs => $4)
    from due where push_call.message_id = due.message_id and push_call.subscription_id = due.subscription_id
    returning push_call.*
)
select taken.subscription_id, endpoint, public_key, auth_secret, account.id as user_id, realm.subdomain, taken.message_id,
    taken.trigger, taken.attempts, failures > 0 as is_failing,
    account.is_active and realm.is_active and {_IS_UNREAD} and not {_IS_ACTIVE} as is_wanted,
    {_setting("pm_content_in_desktop_notifications", True)} as shows_direct, message.sender_id,
    sender.full_name as sender_full_name, {is_hidden("account", "sender")} as sender_is_hidden, message.rendered,
    extract(epoch from message.sent_at)::bigint as sent_at, channel.id as channel_id, channel.name as channel,
    topic.name as topic, conversation.participants, realm.id as realm_id, realm.settings::text as realm_facts
from taken join push_subscription on push_subscription.id = taken.subscription_id
join account on account.id = push_subscription.user_id join realm on realm.id = account.realm_id
join message on message.id = taken.message_id join account as sender on sender.id = message.sender_id
join conversation on conversation.id = message.conversation_id
left join channel on channel.id = conversation.id left join topic on topic.id = message.topic_id
"""


async def insert_due(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Messages of which somebody may have to be told."""
    await tx.execute("insert into push_due (message_id) select unnest($1::bigint[])", message_ids)


async def decide(tx: Transaction, limit: int) -> int:
    """Find out who is to be told of messages that were sent, and write it down; returns how many messages were dealt with."""
    return int(await tx.fetchval(_DECIDE, limit))


async def claim(tx: Transaction, limit: int, busy: Sequence[Sequence[int]], seconds: float) -> list[Push]:
    """Pushes that are due, except those of busy users and realms, taken for so many seconds."""
    return [_push(row) for row in await tx.fetch(_CLAIM, limit, *busy, seconds)]


def _push(row: asyncpg.Record) -> Push:
    fields = dict(row)
    settings = decode_realm(fields.pop("realm_facts")).settings
    return Push(**fields, empty_topic=settings.empty_topic_display_name)


async def delete_call(tx: Transaction, subscription_id: int, message_id: int) -> None:
    """It is done with."""
    sql = "delete from push_call where subscription_id = $1 and message_id = $2"
    await tx.execute(sql, subscription_id, message_id)


async def put_off(tx: Transaction, subscription_id: int, message_id: int, seconds: float) -> None:
    """Try again a little later."""
    sql = "update push_call set due = now() + make_interval(secs => $3) where subscription_id = $1 and message_id = $2"
    await tx.execute(sql, subscription_id, message_id, seconds)


async def put_subscription(
    tx: Transaction,
    owner: tuple[int, int],
    endpoint: str,
    keys: tuple[bytes, bytes],
    login: tuple[bytes | None, int | None],
) -> int:
    """Subscribe a browser of somebody (realm, user). A browser has one person at a time: whoever subscribed last."""
    sql = """
    insert into push_subscription as known (realm_id, user_id, endpoint, public_key, auth_secret, session_digest, key_id)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict (endpoint) do update set
        realm_id = excluded.realm_id, user_id = excluded.user_id, public_key = excluded.public_key,
        auth_secret = excluded.auth_secret, session_digest = excluded.session_digest, key_id = excluded.key_id,
        failures = 0, failing_since = null
    returning id
    """
    public_key, auth_secret = keys
    sealed = tx.sealer.seal(AUTH_SECRET, auth_secret)
    return int(await tx.fetchval(sql, *owner, endpoint, public_key, sealed, *login))


async def delete_oldest(tx: Transaction, realm_id: int, user_id: int, keep: int) -> None:
    """Forget all but somebody's newest subscriptions."""
    sql = """
    delete from push_subscription where id in (
        select id from push_subscription where realm_id = $1 and user_id = $2 order by id desc offset $3
    )
    """
    await tx.execute(sql, realm_id, user_id, keep)


async def delete_subscription(tx: Transaction, user_id: int, endpoint: str) -> bool:
    """Delete the subscription of somebody's browser; returns whether there was one."""
    sql = "delete from push_subscription where user_id = $1 and endpoint = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, endpoint))


async def forget_subscription(tx: Transaction, subscription_id: int, endpoint: str) -> None:
    """Delete a subscription whose browser is gone."""
    await tx.execute("delete from push_subscription where id = $1 and endpoint = $2", subscription_id, endpoint)


async def note_taken(tx: Transaction, subscription_id: int) -> None:
    """The push service takes pushes again."""
    await tx.execute("update push_subscription set failures = 0, failing_since = null where id = $1", subscription_id)


async def note_failed(tx: Transaction, subscription_id: int, endpoint: str, failures: int, days: int) -> bool:
    """Count a push that was not taken; returns whether it was one too many, and the subscription is deleted."""
    sql = """
    update push_subscription set failures = failures + 1, failing_since = coalesce(failing_since, now())
    where id = $1 and endpoint = $2
    returning failures >= $3 and failing_since <= now() - make_interval(days => $4)
    """
    is_gone = bool(await tx.fetchval(sql, subscription_id, endpoint, failures, days))
    if is_gone:
        await forget_subscription(tx, subscription_id, endpoint)
    return is_gone


async def subscriptions_of(
    reader: Reader, realm_id: int, user_id: int, login: tuple[bytes | None, int | None]
) -> list[Subscription]:
    """Somebody's browsers, the oldest first."""
    sql = """
    select id, coalesce(substring(endpoint from '//([^/]+)'), '') as service, extract(epoch from created)::bigint as created,
        session_digest is not distinct from $3 and key_id is not distinct from $4 as is_current
    from push_subscription where realm_id = $1 and user_id = $2 order by id
    """
    return [Subscription(**row) for row in await reader.fetch(sql, realm_id, user_id, *login)]


async def find_key(reader: Reader) -> bytes | None:
    """Our own key."""
    found: bytes | None = await reader.fetchval("select private_key from push_key")
    return None if found is None else reader.sealer.open(PRIVATE_KEY, found)


async def make_key(tx: Transaction, private_key: bytes) -> None:
    """Our own key, unless somebody was faster."""
    await tx.execute(
        "insert into push_key (private_key) values ($1) on conflict do nothing",
        tx.sealer.seal(PRIVATE_KEY, private_key),
    )
