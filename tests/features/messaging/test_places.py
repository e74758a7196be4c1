"""Messages that move: who marks some of them comes before or after, and who marks others does not notice."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import httpx
import pytest

import tertulia.messaging.flags.routes
from tertulia.messaging.flags.actions import PORTION
from tests.harness.counting import counting
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import later
from tests.harness.talk import Queue, check_success, eventually

NOW = 3.0
"""Less than anybody waits for a lock before they are refused."""


@contextmanager
def moving(realm: Realm, message_id: int, source: Channel, target: Channel) -> Iterator["Future[httpx.Response]"]:
    """While a message is on its way to the topic "there" of another channel, and all is held for it."""
    realm.owner.send(target.stream_id, "there", "here before")
    with realm.stage.session() as execute:
        execute("select from topic where conversation_id = %s for update", target.stream_id)
        going = realm.owner.later(
            "PATCH", f"messages/{message_id}", stream_id=target.stream_id, topic="there", propagate_mode="change_all"
        )
        with pytest.raises(TimeoutError):
            going.result(0.5)
        yield going
    check_success(going.result(30))


def test_messages_elsewhere_are_marked_and_deleted_while_some_move(realm: Realm) -> None:
    source, target, other = (realm.stage.channel(realm.owner, realm.member, realm_id=realm.id) for _ in range(3))
    leaving = realm.owner.send(source.stream_id, "here")
    staying = realm.owner.send(other.stream_id, "elsewhere")
    with moving(realm, leaving, source, target):
        for path, fields in (
            ("messages/flags", {"messages": [staying], "op": "add", "flag": "read"}),
            ("messages/flags", {"messages": [staying], "op": "add", "flag": "starred"}),
            ("messages/flags", {"messages": [staying], "op": "remove", "flag": "read"}),
            ("mark_stream_as_read", {"stream_id": other.stream_id}),
        ):
            check_success(realm.member.later("POST", path, **fields).result(NOW))
        check_success(realm.owner.later("DELETE", f"messages/{staying}").result(NOW))


def test_a_message_that_moves_is_marked_where_it_arrived_and_told_in_that_order(realm: Realm) -> None:
    source, target = (realm.stage.channel(realm.owner, realm.member, realm_id=realm.id) for _ in range(2))
    leaving = realm.owner.send(source.stream_id, "here")
    with Queue(realm.member, event_types=["update_message", "update_message_flags"]) as queue:
        with moving(realm, leaving, source, target):
            marking = realm.member.later("POST", "messages/flags", messages=[leaving], op="add", flag="read")
            with pytest.raises(TimeoutError):
                marking.result(0.5)
        assert check_success(marking.result(30))["messages"] == [leaving]
        types: list[str] = []
        while len(types) < 2:
            types += [event["type"] for event in queue.poll()]
    assert types == ["update_message", "update_message_flags"]
    assert "read" in realm.member.message(leaving)["flags"]


def test_whoever_waited_for_a_message_that_moved_holds_the_place_that_it_moved_to(realm: Realm) -> None:
    source, target = (realm.stage.channel(realm.owner, realm_id=realm.id) for _ in range(2))
    message = realm.owner.send(source.stream_id, "here")
    change = "select pg_advisory_xact_lock(hashtextextended('places', place_of(%s, %s)))"
    attempt = "select pg_try_advisory_xact_lock(hashtextextended('places', place_of(%s, %s)))"
    waiting = "select count(*) from pg_stat_activity where wait_event = 'advisory' and query like '%%hold_places%%'"
    with realm.stage.session() as hold:
        with realm.stage.session() as move:
            move(change, realm.id, source.stream_id)
            holding = later(hold, "select hold_places(%s, %s::bigint[])", realm.id, [message])
            eventually(lambda: realm.stage.sql(waiting) == [(1,)])
            topic = "(select id from topic where conversation_id = %s)"
            realm.owner.send(target.stream_id, "there")
            move(
                f"update message set conversation_id = %s, seq = 1000, topic_id = {topic} where id = %s",
                target.stream_id,
                target.stream_id,
                message,
            )
        holding.result(30)
        for channel in (source, target):
            assert realm.stage.sql(attempt, realm.id, channel.stream_id) == [(False,)]
    assert realm.stage.sql(attempt, realm.id, target.stream_id) == [(True,)]


def test_of_many_messages_that_are_marked_in_portions_all_are_marked_or_none(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    first, second = (realm.owner.send(channel.stream_id, "topic") for _ in range(2))
    marking = {"op": "add", "flag": "starred"}
    unknown = realm.member.request("POST", "messages/flags", messages=[first] * PORTION + [2**40], **marking)
    assert unknown.status_code == 400
    assert "starred" not in realm.member.message(first)["flags"]
    check_success(realm.member.request("POST", "messages/flags", messages=[first] * PORTION + [second], **marking))
    for message in (first, second):
        assert "starred" in realm.member.message(message)["flags"]


@pytest.fixture
def not_received(realm: Realm) -> int:
    """A message that the member may read, and did not get."""
    return realm.owner.send(realm.stage.channel(realm.owner, realm_id=realm.id).stream_id, "topic")


async def test_the_texts_of_messages_are_not_read_to_mark_them(realm: Realm, not_received: int) -> None:
    """50,000 at once may be marked, of which each may be large."""
    async with counting(realm.stage.server.postgres_url, tertulia.messaging.flags.routes) as counter:
        fields = {"messages": f"[{not_received}]", "op": "add", "flag": "starred"}
        await counter.cost(realm.member.user, "POST", "messages/flags", realm.host, **fields)
        assert not [sql for sql in counter.statements if "rendered" in sql or "content" in sql]
    assert "starred" in realm.member.get(f"messages/{not_received}")["message"]["flags"]


def test_nobody_waits_for_a_message_that_is_out_of_reach(realm: Realm) -> None:
    """By waiting they would learn that it is there."""
    channel = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    message = realm.owner.send(channel.stream_id, "topic")
    with realm.stage.session() as hold:
        hold("select from message where id = %s for update", message)
        for method, path, fields in (
            ("POST", f"messages/{message}/reactions", {"emoji_name": "tada"}),
            ("POST", "submessage", {"message_id": message, "msg_type": "widget", "content": "{}"}),
        ):
            assert realm.member.later(method, path, **fields).result(NOW).status_code == 400


def test_who_reacts_to_a_message_that_moves_is_told_to_try_again(realm: Realm) -> None:
    source, target = (realm.stage.channel(realm.owner, realm.member, realm_id=realm.id) for _ in range(2))
    leaving = realm.owner.send(source.stream_id, "here")
    realm.owner.send(target.stream_id, "there")
    with realm.stage.session() as move:
        topic = "(select id from topic where conversation_id = %s)"
        move(
            f"update message set conversation_id = %s, seq = 1000, topic_id = {topic} where id = %s",
            *(target.stream_id, target.stream_id, leaving),
        )
        reacting = realm.member.later("POST", f"messages/{leaving}/reactions", emoji_name="tada")
        with pytest.raises(TimeoutError):
            reacting.result(0.5)
    assert reacting.result(30).status_code == 503  # to be tried again, and not: no such message
