"""Messages that are older than they are kept."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.postgres import Limits
from tertulia.messaging.editing.retention import actions
from tertulia.messaging.editing.retention.actions import delete_expired_messages
from tertulia.organization.audit_log.actions import forget_old_entries
from tests.harness.files import upload
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Queue, Speaker, check_success, eventually


def age(realm: Realm, days: int, *message_ids: int) -> None:
    sql = "update message set sent_at = now() - make_interval(days => %s, hours => 1) where id = any(%s)"
    realm.stage.sql(sql, days, list(message_ids))


def left(realm: Realm, *message_ids: int) -> list[int]:
    found = realm.stage.sql("select id from message where id = any(%s) order by id", list(message_ids))
    return [row[0] for row in found]


def keep(realm: Realm, days: object, channel: Channel | None = None) -> None:
    path = "realm" if channel is None else f"streams/{channel.stream_id}"
    check_success(realm.owner.request("PATCH", path, message_retention_days=days))


def expire(stage: Stage, limits: Limits | None = None) -> None:
    """What the worker does every ten minutes."""

    async def run() -> None:
        connecting = Database.connect(stage.server.postgres_url, shards=4, size=2, limits=limits)
        async with await connecting as database:
            await delete_expired_messages(database)

    asyncio.run(run())


def send(speaker: Speaker, channel: Channel, topic: str = "tea", count: int = 1) -> list[int]:
    return [speaker.send(channel.stream_id, topic, f"message {number}") for number in range(count)]


@pytest.mark.holds("channel.retention")
def test_each_channel_keeps_what_it_says_or_what_the_organization_says(realm: Realm) -> None:
    inherits, own, forever = (realm.stage.channel(realm.owner, realm.member, realm_id=realm.id) for _ in range(3))
    old = [send(realm.owner, channel)[0] for channel in (inherits, own, forever)]
    direct, new = realm.owner.send([realm.member.id]), send(realm.owner, inherits)[0]
    age(realm, 5, *old, direct)
    age(realm, 2, new)
    expire(realm.stage)
    assert left(realm, *old, direct, new) == sorted([*old, direct, new])
    keep(realm, 10, own)
    keep(realm, "unlimited", forever)
    keep(realm, 3)
    expire(realm.stage)
    assert left(realm, *old, direct, new) == sorted([*old[1:], new])
    age(realm, 11, old[1], old[2])
    expire(realm.stage)
    assert left(realm, *old) == [old[2]]


def test_whoever_could_read_them_is_told_as_of_any_deletion(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    gone = {topic: send(realm.owner, channel, topic, 2) for topic in ("tea", "milk")}
    [kept] = send(realm.owner, channel)
    direct = realm.owner.send([realm.member.id])
    age(realm, 2, direct, *(one for ids in gone.values() for one in ids))
    types = ["delete_message", "message", "stream"]
    capabilities = {"notification_settings_null": True, "bulk_message_deletion": True}
    with (
        Queue(realm.member, event_types=types, fetch_event_types=[], client_capabilities=capabilities) as modern,
        Queue(realm.member, event_types=types, fetch_event_types=[]) as plain,
        Queue(realm.guest, event_types=types, fetch_event_types=[]) as outside,
    ):
        keep(realm, 1)
        expire(realm.stage)
        told = [event for event in modern.so_far() if event["type"] == "delete_message"]
        singles = [event for event in plain.so_far() if event["type"] == "delete_message"]
        first = [event for event in modern.speaker.get("streams")["streams"] if event["stream_id"] == channel.stream_id]
        assert not [event for event in outside.so_far() if event["type"] != "message"]
    assert sorted(event["message_id"] for event in singles) == sorted([direct, *gone["tea"], *gone["milk"]])
    assert {(event["message_type"], event.get("topic"), *event["message_ids"]) for event in told} == {
        ("private", None, direct),
        ("stream", "tea", *gone["tea"]),
        ("stream", "milk", *gone["milk"]),
    }
    assert first[0]["first_message_id"] == kept
    topics = realm.member.get(f"users/me/{channel.stream_id}/topics")["topics"]
    assert [(topic["name"], topic["max_id"]) for topic in topics] == [("tea", kept)]


def test_more_than_a_portion_goes_and_what_is_young_stays(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    [first] = send(realm.owner, channel)
    sql = """
    with numbered as (update conversation set last_seq = last_seq + 250 where id = %s returning id, last_seq)
    insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered, sent_at)
    select message.realm_id, message.conversation_id, numbered.last_seq - 250 + n, topic_id, sender_id, client, 'x', 'x',
        now() - interval '9 days'
    from numbered join message on message.conversation_id = numbered.id, generate_series(1, 250) as n
    """
    realm.stage.sql(sql, channel.stream_id)
    age(realm, 9, first)
    [young] = send(realm.owner, channel)
    keep(realm, 7, channel)
    at_once([partial(expire, realm.stage), partial(expire, realm.stage)])
    count = "select count(*), min(id) from message where conversation_id = %s"
    assert realm.stage.sql(count, channel.stream_id) == [(1, young)]


def test_files_are_held_in_order_however_the_messages_lie(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    urls = [upload(realm.owner, name) for name in ("low.txt", "high.txt")]
    low, high = (one["id"] for one in realm.owner.get("attachments")["attachments"])
    sent = [
        realm.owner.send(channel.stream_id, topic, f"[file]({url})")
        for topic, url in zip(("tea", "milk"), reversed(urls), strict=True)
    ]
    age(realm, 2, *sent)
    keep(realm, 1)
    waiting = """
    select count(*) from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%%from attachment where id = any%%for no key update'
    """
    with ThreadPoolExecutor(1) as pool, realm.stage.session() as execute:
        execute("select id from attachment where id = %s for update", low)
        done = pool.submit(expire, realm.stage)
        eventually(lambda: realm.stage.sql(waiting) != [(0,)])
        try:
            execute("select id from attachment where id = %s for update nowait", high)
        finally:
            execute("rollback")
        done.result(timeout=20)
    assert left(realm, *sent) == []


def test_archived_channels_keep_nothing_longer(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    [message] = send(realm.owner, channel)
    age(realm, 2, message)
    keep(realm, 1)
    realm.owner.delete(f"streams/{channel.stream_id}")
    expire(realm.stage)
    assert left(realm, message) == []


def forget(realm: Realm, other: Realm) -> None:
    """What the worker does with entries of the audit log, while one organization keeps its own very long."""
    stored = "update realm set settings = settings || jsonb_build_object('audit_log_retention_days', %s) where id = %s"
    realm.stage.sql(stored, 2**31 - 1, other.id)  # from before there was a bound

    async def run() -> None:
        async with await Database.connect(realm.stage.server.postgres_url, shards=4, size=2) as database:
            await forget_old_entries(database)

    asyncio.run(run())
    assert other.owner.post("register")["realm_audit_log_retention_days"] == 36_500


def test_one_organization_that_keeps_messages_very_long_does_not_keep_those_of_others(realm: Realm) -> None:
    """One statement looks at all organizations, and there is no time millions of years ago."""
    kept, expired = (send(realm.owner, realm.stage.channel(realm.owner, realm_id=realm.id))[0] for _ in range(2))
    age(realm, 5, kept, expired)
    for path in ("realm", f"streams/{realm.stage.channel(realm.owner, realm_id=realm.id).stream_id}"):
        assert realm.owner.request("PATCH", path, message_retention_days=36_501).status_code == 400
    assert realm.owner.request("PATCH", "realm", audit_log_retention_days=36_501).status_code == 400
    other = Realm(realm.stage)
    message = other.owner.send(realm.stage.channel(other.owner, realm_id=other.id).stream_id, "tea")
    age(other, 9, message)
    stored = "update realm set settings = settings || jsonb_build_object('message_retention_days', %s) where id = %s"
    realm.stage.sql(stored, 2**31 - 1, other.id)  # from before there was a bound
    try:
        keep(realm, 3)
        expire(realm.stage)
        forget(realm, other)
    finally:
        realm.stage.sql("update realm set settings = settings - 'message_retention_days' where id = %s", other.id)
    assert left(realm, kept, expired) == []
    assert left(other, message) == [message]


def test_a_conversation_in_which_it_fails_does_not_keep_those_of_others(realm: Realm) -> None:
    held, free = (realm.stage.channel(realm.owner, realm_id=realm.id) for _ in range(2))
    old = [send(realm.owner, channel)[0] for channel in (held, free)]
    age(realm, 5, *old)
    keep(realm, 3)
    with realm.stage.session() as execute:
        execute("select from conversation where id = %s for update", held.stream_id)
        expire(realm.stage, Limits(statement=1.0))
    assert left(realm, *old) == old[:1]
    expire(realm.stage)
    assert left(realm, *old) == []


def test_conversations_take_turns(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "PORTION", 2)
    monkeypatch.setattr(actions, "PORTIONS", 2)
    many, few = (realm.stage.channel(realm.owner, realm_id=realm.id) for _ in range(2))
    old = [*send(realm.owner, many, count=9), *send(realm.owner, few, count=3)]
    age(realm, 5, *old)
    keep(realm, 3)
    bulk = {"notification_settings_null": True, "bulk_message_deletion": True}
    types = ["delete_message", "message"]
    with Queue(realm.owner, event_types=types, fetch_event_types=[], client_capabilities=bulk) as queue:
        expire(realm.stage)
        told = [event["stream_id"] for event in queue.so_far() if event["type"] == "delete_message"]
    assert left(realm, *old) == []
    assert told == [many.stream_id] * 2 + [few.stream_id] * 2 + [many.stream_id] * 3
