"""Pinned messages: who pins, who sees it, where pins go, and what happens at the same time."""

from collections.abc import Callable

import pytest

import tertulia.messaging.pins.routes
from tertulia.conversations.channels.actions import subscribe
from tests.contract.changes import edit
from tests.features.messaging.test_changing_messages import set_holder
from tests.features.messaging.test_sending_rights import permit, system_group
from tests.harness.counting import counting
from tests.harness.realm import Realm
from tests.harness.server import Channel, Server
from tests.harness.stage import at_once, holds_up, later
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, eventually

CAPABILITIES = {"notification_settings_null": True, "pinned_messages": True, "bulk_message_deletion": True}
QUIET = {"send_notification_to_new_thread": False, "send_notification_to_old_thread": False}
MOST = 50


@pytest.fixture
def channel(realm: Realm) -> Channel:
    """A public channel with everybody in it."""
    return realm.stage.channel(*realm.all, realm_id=realm.id)


def pin(speaker: Speaker, message_id: int) -> None:
    speaker.post(f"messages/{message_id}/pin")


def pins(speaker: Speaker, beside: int) -> list[int]:
    return [one["message_id"] for one in speaker.get(f"messages/{beside}/pins")["pins"]]


def listen(speaker: Speaker, capabilities: Json = CAPABILITIES) -> Queue:
    types = ["pin", "message"]
    return Queue(speaker, event_types=types, fetch_event_types=[], client_capabilities=capabilities)


def told(queue: Queue) -> list[Json]:
    found = [event for event in queue.so_far() if event["type"] == "pin"]
    for event in found:
        del event["id"], event["type"]
    return found


def refused_alike(speaker: Speaker, message_id: int) -> None:
    """As if the message did not exist."""
    for method, path in (("POST", "pin"), ("DELETE", "pin"), ("GET", "pins")):
        answers = [speaker.request(method, f"messages/{one}/{path}") for one in (message_id, 999_999_999)]
        assert [answer.status_code for answer in answers] == [400, 400]
        assert answers[0].json()["msg"] == answers[1].json()["msg"]


def test_everybody_sees_what_is_pinned_in_a_topic_the_last_pinned_first(realm: Realm, channel: Channel) -> None:
    first, second = (realm.member.send(channel.stream_id, "tea", text) for text in ("a", "b"))
    other = realm.member.send(channel.stream_id, "coffee", "c")
    for one in (second, first, other, first):
        pin(realm.moderator, one)
    for speaker in realm.all:
        assert pins(speaker, second) == [first, second]
        assert pins(speaker, other) == [other]
    realm.owner.delete(f"messages/{first}/pin")
    realm.owner.delete(f"messages/{first}/pin")
    assert pins(realm.guest, first) == [second]


def test_those_who_read_the_message_are_told_if_they_understand_it(realm: Realm, channel: Channel) -> None:
    message = realm.member.send(channel.stream_id, "tea", "a")
    direct = realm.member.send([realm.owner.id], content="b")
    with (
        listen(realm.owner) as owner,
        listen(realm.guest) as guest,
        listen(realm.owner, {"notification_settings_null": True}) as old,
    ):
        for one in (message, message, direct):
            pin(realm.member, one)
        realm.member.delete(f"messages/{message}/pin")
        realm.member.delete(f"messages/{message}/pin")
        events = told(owner)
        times = [event.pop("pinned_at", 0) > 1_700_000_000 for event in events]
        place = {"stream_id": channel.stream_id, "topic": "tea"}
        assert events == [
            {"op": "add", "message_id": message, **place},
            {"op": "add", "message_id": direct, "user_ids": sorted((realm.member.id, realm.owner.id))},
            {"op": "remove", "message_id": message, **place},
        ]
        assert times == [True, True, False]
        assert [event["message_id"] for event in told(guest)] == [message, message]
        assert told(old) == []


def test_whoever_may_post_pins_and_guests_do_not(realm: Realm, channel: Channel) -> None:
    message = realm.member.send(channel.stream_id, "tea", "a")
    direct = realm.member.send([realm.guest.id], content="b")
    for one in (message, direct):
        check_error(realm.guest.request("POST", f"messages/{one}/pin"))
        pin(realm.member, one)
        check_error(realm.guest.request("DELETE", f"messages/{one}/pin"))
        assert pins(realm.guest, one) == [one]
    set_holder(realm, channel, "can_send_message_group", "role:administrators")
    for method in ("POST", "DELETE"):
        check_error(realm.member.request(method, f"messages/{message}/pin"))
    pin(realm.bot(realm.administrator), message)
    realm.administrator.delete(f"messages/{message}/pin")
    assert pins(realm.member, message) == []


def test_who_is_made_a_guest_meanwhile_pins_nothing(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic", "a rule")
    with realm.stage.session() as execute:
        execute("select from message where id = %s for update", sent)
        asked = later(realm.member.request, "POST", f"messages/{sent}/pin")
        eventually(lambda: holds_up(execute))
        check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", role=600))
    check_error(asked.result())
    assert pins(realm.owner, sent) == []


def test_pins_out_of_reach_do_not_exist(realm: Realm) -> None:
    secret = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    message = realm.owner.send(secret.stream_id, "tea", "a")
    direct = realm.owner.send([realm.administrator.id], content="b")
    for one in (message, direct):
        pin(realm.owner, one)
        refused_alike(realm.member, one)
        assert pins(realm.owner, one) == [one]


def test_where_history_is_protected_a_newcomer_sees_the_pins_of_what_they_received(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    sql = "update channel set history_public_to_subscribers = false where id = %s"
    realm.stage.sql(sql, channel.stream_id)
    before = realm.owner.send(channel.stream_id, "tea", "a")
    realm.stage.write(lambda tx: subscribe(tx, realm.id, [channel.stream_id], [realm.member.id]))
    after = realm.owner.send(channel.stream_id, "tea", "b")
    with listen(realm.member) as queue:
        pin(realm.owner, before)
        pin(realm.owner, after)
        assert [event["message_id"] for event in told(queue)] == [after]
    assert pins(realm.owner, after) == [after, before]
    assert pins(realm.member, after) == [after]
    refused_alike(realm.member, before)


def test_a_pin_goes_with_its_message_to_another_topic_or_channel(realm: Realm, channel: Channel) -> None:
    target = realm.stage.channel(*realm.all, realm_id=realm.id)
    stays, goes = (realm.owner.send(channel.stream_id, "tea", text) for text in ("a", "b"))
    for one in (stays, goes):
        pin(realm.owner, one)
    edit(realm.owner, goes, topic="coffee", propagate_mode="change_one", **QUIET)
    assert (pins(realm.member, stays), pins(realm.member, goes)) == ([stays], [goes])
    edit(realm.owner, goes, topic="tea", propagate_mode="change_one", **QUIET)
    assert pins(realm.member, stays) == [goes, stays]
    edit(realm.owner, stays, stream_id=target.stream_id, propagate_mode="change_all", **QUIET)
    assert pins(realm.member, stays) == [goes, stays]
    edit(realm.owner, stays, topic="✔ tea", propagate_mode="change_all", **QUIET)
    assert pins(realm.member, goes) == [goes, stays]
    new = realm.owner.send(channel.stream_id, "tea", "c")
    assert pins(realm.member, new) == []


def test_a_pin_ends_with_its_message(realm: Realm, channel: Channel) -> None:
    stays, goes = (realm.owner.send(channel.stream_id, "tea", text) for text in ("a", "b"))
    for one in (stays, goes):
        pin(realm.owner, one)
    realm.owner.delete(f"messages/{goes}")
    assert pins(realm.member, stays) == [stays]
    assert realm.stage.sql("select message_id from pin where message_id = %s", goes) == []


def test_a_topic_has_so_many_pins_and_no_more_also_if_all_come_at_once(realm: Realm, channel: Channel) -> None:
    messages = [realm.owner.send(channel.stream_id, "tea", f"{number}") for number in range(MOST + 4)]
    for one in messages[: MOST - 2]:
        pin(realm.owner, one)
    answers = at_once(
        [
            lambda one=one: realm.owner.request("POST", f"messages/{one}/pin").status_code  # type: ignore[misc]
            for one in messages[MOST - 2 :]
        ]
    )
    assert sorted(answers) == [200, 200, 400, 400, 400, 400]
    assert len(pins(realm.owner, messages[0])) == MOST
    pin(realm.owner, messages[0])


def test_of_pinning_at_the_same_time_one_counts_and_a_deleted_message_keeps_no_pin(
    realm: Realm, channel: Channel
) -> None:
    for _ in range(5):
        message = realm.owner.send(channel.stream_id, "tea", "a")
        with listen(realm.owner) as queue:
            at_once([lambda one=message: pin(realm.owner, one)] * 4)  # type: ignore[misc]
            assert len(told(queue)) == 1
        doomed = realm.owner.send(channel.stream_id, "tea", "b")
        at_once(
            [
                lambda one=doomed: realm.owner.request("POST", f"messages/{one}/pin"),  # type: ignore[misc]
                lambda one=doomed: check_success(realm.owner.request("DELETE", f"messages/{one}")),  # type: ignore[misc]
            ]
        )
        assert realm.stage.sql("select message_id from pin where message_id = %s", doomed) == []


def test_a_pin_is_where_its_message_is_also_if_both_are_moved_and_pinned_at_once(
    realm: Realm, channel: Channel
) -> None:
    for number in range(8):
        message = realm.owner.send(channel.stream_id, "tea", "a")
        move = {"topic": f"coffee {number}", "propagate_mode": "change_one", **QUIET}
        works: list[Callable[[], object]] = [
            lambda one=message: pin(realm.owner, one),  # type: ignore[misc]
            lambda one=message, move=move: edit(realm.owner, one, **move),  # type: ignore[misc]
        ]
        at_once(works)
    sql = "select count(*) from pin join message on message.id = message_id where pin.topic_id <> message.topic_id"
    assert realm.stage.sql(sql) == [(0,)]


async def test_what_a_pin_costs_does_not_grow_with_the_pins_there_are(
    realm: Realm, channel: Channel, server: Server
) -> None:
    messages = [realm.owner.send(channel.stream_id, "tea", f"{number}") for number in range(12)]
    async with counting(server.postgres_url, tertulia.messaging.pins.routes) as counter:

        async def cost(method: str, path: str) -> int:
            return await counter.cost(realm.owner.user, method, path, realm.host)

        first = await cost("POST", f"/messages/{messages[0]}/pin")
        listed = await cost("GET", f"/messages/{messages[0]}/pins")
        for one in messages[1:-1]:
            pin(realm.owner, one)
        assert await cost("POST", f"/messages/{messages[-1]}/pin") == first
        assert await cost("GET", f"/messages/{messages[0]}/pins") == listed
        assert listed <= 4


def test_where_nobody_may_write_directly_nobody_pins(realm: Realm) -> None:
    message = realm.member.send([realm.owner.id], content="b")
    permit(realm, "direct_message_permission_group", system_group(realm.stage, realm.id, "role:nobody"))
    check_error(realm.member.request("POST", f"messages/{message}/pin"))
    assert pins(realm.owner, message) == []


def test_a_pin_that_an_older_program_left_behind_is_there_again_when_it_is_pinned_again(
    realm: Realm, channel: Channel
) -> None:
    message, elsewhere = (realm.member.send(channel.stream_id, topic, "a") for topic in ("tea", "coffee"))
    pin(realm.owner, message)
    sql = "update pin set topic_id = (select topic_id from message where id = %s) where message_id = %s"
    realm.stage.sql(sql, elsewhere, message)
    assert pins(realm.member, message) == []
    with listen(realm.member) as queue:
        pin(realm.owner, message)
        assert [(event["op"], event["message_id"]) for event in told(queue)] == [("add", message)]
    assert pins(realm.member, message) == [message]
