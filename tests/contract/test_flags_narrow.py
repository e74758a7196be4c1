"""POST /messages/flags/narrow (protocol/messages.md#flags)."""

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

WHOLE: Json = {"anchor": "oldest", "num_before": 0, "num_after": 5000, "op": "add", "flag": "read"}


def change(speaker: Speaker, narrow: object, **fields: object) -> Json:
    answer = speaker.post("messages/flags/narrow", narrow=narrow, **(WHOLE | fields))
    del answer["result"], answer["msg"]
    return answer


def topic_of(channel: Channel, topic: str) -> list[Json]:
    return [{"operator": "channel", "operand": channel.stream_id}, {"operator": "topic", "operand": topic}]


@pytest.mark.holds("flags.narrow")
def test_a_topic_is_read_with_one_event(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("narrow")
    ids = [other.send(channel.stream_id, topic) for _ in range(4)]
    member.post("messages/flags", messages=ids[:1], op="add", flag="read")
    with member.register(event_types=["update_message_flags"]) as queue:
        answer = change(member, topic_of(channel, topic))
        [event] = queue.poll()
    assert answer == {
        "processed_count": 4,
        "updated_count": 3,
        "first_processed_id": ids[0],
        "last_processed_id": ids[3],
        "found_oldest": True,
        "found_newest": True,
        "ignored_because_not_subscribed_channels": [],
    }
    assert (event["op"], event["flag"], event["messages"]) == ("add", "read", ids[1:])


@pytest.mark.holds("flags.narrow")
def test_only_the_window_is_done(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("window")
    ids = [other.send(channel.stream_id, topic) for _ in range(5)]
    window: Json = {"anchor": str(ids[2]), "num_before": 1, "num_after": 1}
    answer = change(member, topic_of(channel, topic), flag="starred", **window)
    assert (answer["processed_count"], answer["updated_count"]) == (3, 3)
    assert (answer["found_oldest"], answer["found_newest"]) == (False, False)
    assert ["starred" in member.message(id)["flags"] for id in ids] == [False, True, True, True, False]
    answer = change(member, topic_of(channel, topic), op="remove", flag="starred", include_anchor=False,
                    anchor=str(ids[2]), num_before=0, num_after=5)  # fmt: skip
    assert (answer["processed_count"], answer["updated_count"], answer["first_processed_id"]) == (2, 1, ids[3])
    assert ["starred" in member.message(id)["flags"] for id in ids] == [False, True, True, False, False]


@pytest.mark.holds("flags.narrow")
def test_first_unread_is_an_anchor(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("unread")
    ids = [other.send(channel.stream_id, topic) for _ in range(4)]
    member.post("messages/flags", messages=ids[:2], op="add", flag="read")
    answer = change(member, topic_of(channel, topic), anchor="first_unread", num_after=1)
    assert (answer["first_processed_id"], answer["last_processed_id"], answer["updated_count"]) == (ids[2], ids[3], 2)


@pytest.mark.holds("flags.narrow")
@pytest.mark.parametrize("narrow", [[], "null"])
def test_without_a_narrow_it_is_everything_received(newcomer: Speaker, other: Speaker, narrow: object) -> None:
    ids = [other.send([newcomer.id]) for _ in range(2)]
    answer = change(newcomer, narrow)
    assert (answer["processed_count"], answer["updated_count"]) == (2, 2)
    assert [newcomer.message(id)["flags"] for id in ids] == [["read"]] * 2


@pytest.mark.holds("flags.narrow")
def test_what_is_found_and_not_subscribed_to_stays_read(newcomer: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("far")
    other.send(channel.stream_id, topic)
    answer = change(newcomer, topic_of(channel, topic), op="remove")
    assert (answer["processed_count"], answer["updated_count"]) == (1, 0)
    assert answer["ignored_because_not_subscribed_channels"] == [channel.stream_id]


@pytest.mark.holds("flags.narrow")
def test_nothing_found_is_no_error(member: Speaker, channel: Channel) -> None:
    answer = change(member, topic_of(channel, unique("nothing")))
    assert (answer["processed_count"], answer["first_processed_id"], answer["last_processed_id"]) == (0, None, None)


@pytest.mark.holds("flags.narrow")
def test_more_than_is_done_at_once_is_no_error(newcomer: Speaker) -> None:
    newcomer.send([newcomer.id])
    assert change(newcomer, [], num_before=9000, num_after=9000)["processed_count"] == 1


@pytest.mark.holds("flags.narrow", "flags.wrong")
@pytest.mark.parametrize(
    "fields",
    [
        {"anchor": None},
        {"anchor": "date"},
        {"anchor": "tomorrow"},
        {"num_before": None},
        {"num_before": "-1"},
        {"num_after": None},
        {"narrow": None},
        {"narrow": "x"},
        {"op": "toggle"},
        {"flag": "mentioned"},
        {"flag": "nothing"},
    ],
)
def test_a_wrong_parameter_is_refused(member: Speaker, fields: Json) -> None:
    [name] = fields
    whole = WHOLE | {"narrow": []} | fields
    assert name in check_error(member.request("POST", "messages/flags/narrow", **whole)).lower()
