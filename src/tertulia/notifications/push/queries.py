"""SQL of Web Push: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.sealing import SealedColumn
from tertulia.notifications.concerns.model import Facts, Trigger
from tertulia.notifications.concerns.queries import UNREAD, facts_of
from tertulia.notifications.concerns.rules import decide
from tertulia.notifications.push.bounds import CALLS
from tertulia.notifications.push.model import Address, Push, Subscription
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.users.statements import is_hidden

PRIVATE_KEY = SealedColumn("push_key", "private_key", row="only_one::int")
AUTH_SECRET = SealedColumn("push_subscription", "auth_secret", row="id")


def _setting(name: str, default: bool) -> str:
    return f"coalesce((account.settings->>'{name}')::boolean, {str(default).lower()})"


_CLAIM = f"""
with due as (
    select message_id, subscription_id from push_call join push_subscription on push_subscription.id = subscription_id
    where due <= now() and user_id <> all($2::bigint[]) and realm_id <> all($3::bigint[])
    order by turn, due, message_id limit $1 for update of push_call skip locked
), taken as (
    update push_call set attempts = push_call.attempts + 1, due = now() + make_interval(secs => $4)
    from due where push_call.message_id = due.message_id and push_call.subscription_id = due.subscription_id
    returning push_call.*
)
select taken.subscription_id, endpoint, public_key, auth_secret, account.id as user_id, realm.subdomain, taken.message_id,
    taken.trigger, taken.attempts, failures > 0 as is_failing,
    realm.is_active as is_wanted,
    {_setting("pm_content_in_desktop_notifications", True)} as shows_direct, message.sender_id,
    sender.full_name as sender_full_name, {is_hidden("account", "sender")} as sender_is_hidden, message.rendered,
    extract(epoch from message.sent_at)::bigint as sent_at, channel.id as channel_id, channel.name as channel,
    topic.name as topic, conversation.participants, realm.id as realm_id, realm.settings::text as realm_facts,
    coalesce(account.settings->>'default_language', 'en') as language
from taken join push_subscription on push_subscription.id = taken.subscription_id
join account on account.id = push_subscription.user_id join realm on realm.id = account.realm_id
join message on message.id = taken.message_id join account as sender on sender.id = message.sender_id
join conversation on conversation.id = message.conversation_id
left join channel on channel.id = conversation.id left join topic on topic.id = message.topic_id
"""


async def insert_calls(tx: Transaction, told: Sequence[tuple[int, int, Trigger]]) -> None:
    """Tell people (user, message, why) at all their browsers; as long as so many pushes wait for one of these at most."""
    sql = """
    with wanted as (
        select push_subscription.id, told.message_id, told.trigger,
            row_number() over (partition by push_subscription.id order by told.message_id) as number
        from unnest($1::bigint[], $2::bigint[], $3::text[]) as told(user_id, message_id, trigger)
        join account on account.id = told.user_id
        join push_subscription on push_subscription.realm_id = account.realm_id and push_subscription.user_id = account.id
    ), waiting as (
        select id, (select count(*) from (select from push_call where subscription_id = browser.id limit $4) as counted) as count
        from (select distinct id from wanted) as browser
    )
    insert into push_call (subscription_id, message_id, trigger, turn)
    select id, message_id, trigger, waiting.count + number from wanted join waiting using (id) where waiting.count + number <= $4
    order by message_id, id on conflict do nothing
    """
    await tx.execute(sql, *(list(column) for column in zip(*told, strict=True)), tx.bounds.limit(CALLS))


async def claim(tx: Transaction, limit: int, busy: Sequence[Sequence[int]], seconds: float) -> list[Push]:
    """Pushes that are due, except those of busy users and realms, taken for so many seconds: of each browser the first before
    the second of any, so that who is told very much keeps nobody waiting who is told one thing.

    Whether they are wanted is decided again: what was read, deleted, muted or unsaid by an edit meanwhile is not.
    """
    rows = await tx.fetch(_CLAIM, limit, *busy, seconds)
    known = await facts_of(tx, sorted({(row["user_id"], row["message_id"]) for row in rows})) if rows else {}
    return [_push(row, known.get((row["user_id"], row["message_id"]))) for row in rows]


def _push(row: asyncpg.Record, facts: Facts | None) -> Push:
    fields = dict(row)
    fields["is_wanted"] &= facts is not None and decide(facts).push is not None
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


async def find_address(reader: Reader, user_id: int, endpoint: str) -> Address | None:
    """Where a browser of somebody is pushed to."""
    sql = """
    select id as subscription_id, endpoint, public_key, auth_secret from push_subscription
    where user_id = $1 and endpoint = $2
    """
    row = await reader.fetchrow(sql, user_id, endpoint)
    return Address(**row) if row else None


async def find_unread(reader: Reader, user_id: int, message_ids: Sequence[int]) -> list[int]:
    """Those of the messages that somebody has not read yet; what they cannot read is not among them."""
    sql = f"""
    with pair as (select $1::bigint as user_id, unnest($2::bigint[]) as message_id)
    select message_id from ({UNREAD}) as unread order by message_id
    """
    return [row["message_id"] for row in await reader.fetch(sql, user_id, message_ids)]


async def own_choices(reader: Reader, user_id: int) -> tuple[str, int]:
    """A person's language, and what the number on the icon counts."""
    sql = """
    select coalesce(settings->>'default_language', 'en') as language,
        coalesce((settings->>'desktop_icon_count_display')::int, 1) as display
    from account where id = $1
    """
    row = await reader.fetchrow(sql, user_id)
    assert row is not None
    return row["language"], row["display"]


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
