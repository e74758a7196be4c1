"""Event queues with a narrow: which message events they bring."""

import pytest

from tests.harness.realm import Realm
from tests.harness.server import GUEST
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_error, check_success, message_ids, unique


@pytest.fixture
def pair(stage: Stage) -> tuple[Speaker, Speaker]:
    return stage.speaker(), stage.speaker()


def test_only_messages_of_the_narrow_come(stage: Stage, pair: tuple[Speaker, Speaker]) -> None:
    reader, writer = pair
    channel, other = stage.channel(reader, writer), stage.channel(reader, writer)
    narrows = {
        "channel": [["channel", channel.name.upper()]],
        "topic": [["stream", channel.name], ["topic", "LUNCH"]],
        "sender": [["sender", writer.email], ["is", "stream"]],
        "dm": [["is", "dm"]],
        "mentioned": [["is", "mentioned"]],
        "resolved": [["is", "resolved"]],
        "unread": [["is", "unread"], ["channel", channel.name]],
        "starred": [["is", "starred"]],
        "empty": [["channel", channel.name], ["topic", "general chat"]],
    }
    queues = {name: reader.register(narrow=narrow) for name, narrow in narrows.items()}
    sent = {
        "lunch": writer.send(channel.stream_id, "Lunch"),
        "own": reader.send(channel.stream_id, "dinner", read_by_sender=True),
        "other": writer.send(other.stream_id, "lunch"),
        "dm": writer.send([reader.id]),
        "mention": writer.send(other.stream_id, "topic", f"@**Somebody New|{reader.id}**"),
        "resolved": writer.send(other.stream_id, "✔ topic"),
        "empty": writer.send(channel.stream_id, ""),
    }
    last = writer.send(channel.stream_id, "Lunch", f"@**Somebody New|{reader.id}** the end")  # in most of the narrows
    wanted = {
        "channel": ["lunch", "own", "empty"],
        "topic": ["lunch"],
        "sender": ["lunch", "other", "dm", "mention", "resolved", "empty"],
        "mentioned": ["mention"],
        "unread": ["lunch", "empty"],
    }
    for name, messages in wanted.items():
        found = message_ids(queues[name].until_message(last))
        assert found == [*(sent[message] for message in messages), last], name
    writer.send([reader.id], content="the end")
    for name, expected in {"dm": ["dm"], "resolved": ["resolved"], "empty": ["empty"]}.items():
        assert message_ids(queues[name].poll())[:1] == [sent[message] for message in expected], name
    assert message_ids(queues["starred"].poll(dont_block=True)) == []


def test_a_narrow_brings_messages_of_public_channels_one_has_not_joined(stage: Stage) -> None:
    reader, writer, guest = stage.speaker(), stage.speaker(), stage.speaker(GUEST)
    channel = stage.channel(writer)
    queues = [who.register(narrow=[["channel", channel.name]]) for who in (reader, guest)]
    sent = writer.send(channel.stream_id, "topic")
    assert message_ids(queues[0].until_message(sent)) == [sent]
    assert message_ids(queues[1].poll(dont_block=True)) == []


def test_a_guest_cannot_try_out_by_a_narrow_whose_address_an_unknown_user_has(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    members = {"new": groups["role:members"]}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=members))
    channel, member = realm.stage.channel(realm.guest, realm_id=realm.id), realm.member
    everything = realm.guest.register()
    real = realm.guest.register(narrow=[["sender", member.email]])
    sent = member.send(channel.stream_id, "topic")
    message = everything.message_event(sent)["message"]
    assert (message["sender_full_name"], message["sender_email"] == member.email) == ("Unknown user", False)
    shown = realm.guest.register(narrow=[["sender", message["sender_email"].upper()]])
    again = member.send(channel.stream_id, "topic")
    assert message_ids(shown.until_message(again)) == [again]
    assert message_ids(everything.until_message(again)) == [again]
    assert real.poll(dont_block=True) == []


def test_other_events_are_not_filtered(stage: Stage) -> None:
    reader, writer = stage.speaker(), stage.speaker()
    channel = stage.channel(reader, writer)
    queue = reader.register(event_types=["message", "update_message_flags"], narrow=[["channel", unique("nowhere")]])
    sent = writer.send(channel.stream_id, "topic")
    reader.post("messages/flags", messages=[sent], op="add", flag="read")
    [event] = queue.poll()
    assert event["type"] == "update_message_flags"


@pytest.mark.parametrize(
    "narrow",
    [[["has", "link"]], [["dm", "a@b.c"]], [["search", "x"]], [["is", "followed"]], [["channel"]], [["a", "b", "c"]]],
)
def test_what_an_event_cannot_tell_is_refused(stage: Stage, narrow: list[list[str]]) -> None:
    check_error(stage.speaker().request("POST", "register", narrow=narrow))


def test_an_empty_narrow_is_none(stage: Stage) -> None:
    speaker = stage.speaker()
    queue = speaker.register(narrow=[])
    sent = speaker.send([speaker.id])
    assert queue.message_event(sent)


def test_a_long_narrow_is_heard_like_the_short_one_that_says_the_same(stage: Stage) -> None:
    reader, writer = stage.speaker(), stage.speaker()
    channel = stage.channel(reader, writer)
    own = ["channel", channel.name]
    narrows = {
        "same": [own, ["stream", f" {channel.name.upper()} "], *[["is", "Ä" * 200]] * 62],
        "anything": [["is", "Ä" * 200]] * 64,
        "two channels": [own, ["channel", unique("elsewhere")]],
        "two senders": [["sender", reader.email], ["sender", writer.email]],
        "two names of the empty topic": [own, ["topic", ""], ["topic", "general chat"]],
        "three topics": [["topic", name] for name in ("", "general chat", "lunch")],
        "nothing new is starred": [own, ["is", "starred"], ["is", "whatever"]],
    }
    queues = {name: reader.register(narrow=narrow) for name, narrow in narrows.items()}
    lunch, empty = writer.send(channel.stream_id, "lunch"), writer.send(channel.stream_id, "")
    direct = writer.send([reader.id])
    queues["anything"].until_message(direct)
    last = writer.send(channel.stream_id, "")
    wanted = {"same": [lunch, empty, last], "anything": [last], "two names of the empty topic": [empty, last]}
    for name, expected in wanted.items():
        assert message_ids(queues[name].until_message(last)) == expected, name
    for name in narrows.keys() - wanted.keys():
        assert message_ids(queues[name].poll(dont_block=True)) == [], name
