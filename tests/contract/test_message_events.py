"""The message event and the local echo (protocol/events.md#events)."""

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success, message_ids, unique

CAPABLE = {"notification_settings_null": True, "empty_topic_name": True}


@pytest.mark.holds("events.message", "events.message-form")
def test_the_event_carries_the_message_with_its_flags_beside_it(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    with other.register(apply_markdown=True) as queue:
        sent = member.send(channel.stream_id, unique("event"), "a < b")
        event = queue.message_event(sent)
    assert set(event) == {"id", "type", "message", "flags"}
    assert event["flags"] == []
    fetched = other.message(sent)
    del fetched["flags"]
    assert event["message"] == fetched


@pytest.mark.holds("events.message-audience", "message.same-everywhere")
def test_a_direct_message_reaches_each_participant_in_the_same_form_as_a_fetch(
    member: Speaker, other: Speaker, owner: Speaker
) -> None:
    with member.register(apply_markdown=True) as mine, other.register(apply_markdown=True) as theirs:
        sent = member.send([other.id, owner.id])
        for speaker, queue in ((member, mine), (other, theirs)):
            fetched = speaker.message(sent)
            del fetched["flags"]
            assert queue.message_event(sent)["message"] == fetched


@pytest.mark.holds("events.message-audience")
def test_the_sender_hears_their_own_message(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        sent = member.send(channel.stream_id, unique("own"), read_by_sender=True)
        assert queue.message_event(sent)["flags"] == ["read"]


@pytest.mark.holds("events.message-form")
def test_only_the_sender_has_read_it(member: Speaker, other: Speaker, channel: Channel) -> None:
    with other.register() as queue:
        sent = member.send(channel.stream_id, unique("own"), read_by_sender=True)
        assert queue.message_event(sent)["flags"] == []


@pytest.mark.holds("events.message-content")
@pytest.mark.parametrize(
    ("apply", "kind"), [(True, "text/html"), (False, "text/x-markdown"), (None, "text/x-markdown")]
)
def test_the_form_of_the_content_is_chosen_at_registration(
    member: Speaker, channel: Channel, apply: bool | None, kind: str
) -> None:
    with member.register(apply_markdown=apply) as queue:
        message = queue.message_event(member.send(channel.stream_id, unique("form"), "a < b"))["message"]
    assert message["content_type"] == kind
    assert (message["content"] == "a < b") == (kind == "text/x-markdown")


@pytest.mark.holds("register.empty-topic", "conventions.empty-topic-name")
def test_the_empty_topic_has_its_display_name_unless_the_client_can_show_it(
    member: Speaker, channel: Channel, empty_topic: str
) -> None:
    capable: Json = {"client_capabilities": CAPABLE}
    with member.register() as plain, member.register(**capable) as knowing:
        for topic in ("", "(no topic)", empty_topic):
            sent = member.send(channel.stream_id, topic)
            assert plain.message_event(sent)["message"]["subject"] == empty_topic
            assert knowing.message_event(sent)["message"]["subject"] == ""


@pytest.mark.holds("events.message-local-id", "send-message.local-id", "send-message.queue-id")
def test_the_queue_that_is_named_gets_the_local_id_and_no_other(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    local_id = unique('any "text" é')
    with member.register() as sending, member.register() as second, other.register() as theirs:
        echo = {"queue_id": sending.id, "local_id": local_id}
        sent = member.send(channel.stream_id, unique("echo"), **echo)
        event = sending.message_event(sent)
        assert (event["local_id"], event["local_message_id"]) == (local_id, local_id)
        for queue in (second, theirs):
            assert queue.message_event(sent).keys().isdisjoint({"local_id", "local_message_id"})


@pytest.mark.holds("send-message.local-id")
@pytest.mark.parametrize(
    "local_id", ["", " ", "null", "5", "[1]", "a\0b", "\0", "\x01\x7f", "\ufdd0", "\u2028", "é" * 1000]
)
def test_a_local_id_comes_back_as_it_is(member: Speaker, channel: Channel, local_id: str) -> None:
    fields = {"type": "channel", "to": channel.stream_id, "topic": unique("echo"), "content": "Hello"}
    with member.register() as queue:
        echo = {"queue_id": queue.id, "local_id": local_id}
        sent = member.post("messages", **fields, **echo)["id"]
        assert queue.message_event(sent)["local_id"] == local_id
        sent = check_success(member.http.post("messages", json={**fields, **echo}))["id"]
        assert queue.message_event(sent)["local_id"] == local_id


@pytest.mark.holds("send-message.local-id-length")
def test_a_local_id_of_more_than_1000_characters_is_refused_and_says_so(member: Speaker) -> None:
    with member.register() as queue:
        fields = {"type": "direct", "to": [member.id], "content": "Hello", "queue_id": queue.id}
        for long in ("x" * 1001, "\0" * 1001, "é" * 100_000):
            msg = check_error(member.request("POST", "messages", **fields, local_id=long))
            assert ("local_id" in msg, "1000" in msg) == (True, True)


@pytest.mark.holds("send-message.queue-id")
def test_a_queue_id_needs_a_local_id(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        fields = {"type": "channel", "to": channel.stream_id, "topic": "t", "content": "x", "queue_id": queue.id}
        check_error(member.request("POST", "messages", **fields))
        assert queue.so_far() == []


@pytest.mark.holds("send-message.local-id", "send-message.queue-foreign")
def test_a_local_id_alone_and_a_queue_that_is_not_ones_own_do_no_harm(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    with other.register() as theirs:
        for echo in (
            {"local_id": "7"},
            {"local_id": "7", "queue_id": "gone"},
            {"local_id": "7", "queue_id": theirs.id},
        ):
            sent = member.send(channel.stream_id, unique("echo"), **echo)
            assert theirs.message_event(sent).keys().isdisjoint({"local_id", "local_message_id"})


@pytest.mark.holds("events.message-audience", "events.delivery")
def test_a_channel_is_heard_by_its_subscribers(
    member: Speaker, other: Speaker, guest: Speaker, channel: Channel
) -> None:
    with other.register() as inside, guest.register() as outside:
        sent = member.send(channel.stream_id, unique("heard"))
        assert message_ids(inside.until_message(sent)) == [sent]
        assert sent not in message_ids(outside.so_far())


@pytest.mark.holds("events.message-audience")
def test_a_private_channel_is_heard_by_its_people_only(owner: Speaker, member: Speaker, private: Channel) -> None:
    with owner.register() as inside, member.register() as outside, member.register(all_public_streams=True) as wide:
        sent = owner.send(private.stream_id, unique("secret"))
        assert message_ids(inside.until_message(sent)) == [sent]
        assert sent not in message_ids(outside.so_far())
        assert sent not in message_ids(wide.so_far())


@pytest.mark.holds("events.message-audience")
def test_a_direct_message_is_heard_by_its_people_only(member: Speaker, other: Speaker, owner: Speaker) -> None:
    with owner.register(all_public_streams=True) as outside:
        sent = member.send([other.id])
        assert sent not in message_ids(outside.so_far())


@pytest.mark.holds("events.message-all-public")
def test_all_public_channels_can_be_heard_without_subscribing(member: Speaker, owner: Speaker) -> None:
    name = unique("far away")
    owner.post("users/me/subscriptions", subscriptions=[{"name": name}])
    with member.register(all_public_streams=True) as wide, member.register() as narrow:
        sent = owner.send(name, "topic")
        assert message_ids(wide.until_message(sent)) == [sent]
        assert sent not in message_ids(narrow.so_far())


@pytest.mark.holds("events.message-all-public")
def test_a_guest_cannot_listen_to_all_public_channels(guest: Speaker) -> None:
    check_error(guest.request("POST", "register", all_public_streams=True))


@pytest.mark.holds("events.message-audience")
def test_who_subscribes_hears_from_then_on_and_who_leaves_hears_no_more(member: Speaker, owner: Speaker) -> None:
    name = unique("comings")
    owner.post("users/me/subscriptions", subscriptions=[{"name": name}])
    with member.register() as queue:
        before = owner.send(name, "topic")
        member.post("users/me/subscriptions", subscriptions=[{"name": name}])
        inside = owner.send(name, "topic")
        member.delete("users/me/subscriptions", subscriptions=[name])
        after = owner.send(name, "topic")
        heard = message_ids(queue.so_far())
    assert inside in heard
    assert before not in heard
    assert after not in heard
