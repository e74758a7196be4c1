"""Limits: published by POST /register, and held (protocol/basics.md#limits). What is over a limit is refused, never cut."""

import time

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, unique

LIMITS = (
    "max_message_length",
    "max_topic_length",
    "max_stream_name_length",
    "max_stream_description_length",
    "max_channel_folder_name_length",
    "max_channel_folder_description_length",
    "server_typing_started_wait_period_milliseconds",
    "server_typing_stopped_wait_period_milliseconds",
    "server_typing_started_expiry_period_milliseconds",
)


@pytest.mark.holds("limits.published", "limits.typing", "typing.times")
@pytest.mark.parametrize("name", LIMITS)
def test_register_publishes_the_limit(limits: Json, name: str) -> None:
    assert type(limits[name]) is int
    assert limits[name] > 0


@pytest.mark.holds("limits.typing", "typing.times")
def test_a_typing_client_has_time_to_say_so_again(limits: Json) -> None:
    started, expires = (limits[f"server_typing_started_{word}_period_milliseconds"] for word in ("wait", "expiry"))
    assert started < expires


@pytest.mark.holds("limits.message", "send-message.content")
@pytest.mark.parametrize("letter", ["x", "ü", "🦜"])
def test_content_may_be_as_long_as_the_limit_and_comes_back_whole(member: Speaker, limits: Json, letter: str) -> None:
    content = letter * int(limits["max_message_length"])
    sent = member.send([member.id], content=f"{content}\n \n")
    assert member.message(sent, apply_markdown=False)["content"] == content


@pytest.mark.holds("limits.message", "limits.refused-not-cut", "send-message.content")
def test_longer_content_is_refused_and_not_cut(member: Speaker, limits: Json) -> None:
    content = "ü" * (limits["max_message_length"] + 1)
    check_error(member.request("POST", "messages", type="direct", to=[member.id], content=content))


@pytest.mark.holds("limits.topic", "send-message.topic")
@pytest.mark.parametrize("letter", ["x", "ü", "🦜"])
def test_a_topic_may_be_as_long_as_the_limit(member: Speaker, channel: Channel, limits: Json, letter: str) -> None:
    topic = letter * int(limits["max_topic_length"])
    assert member.message(member.send(channel.stream_id, f"  {topic}  "))["subject"].lower() == topic


@pytest.mark.holds("limits.topic", "limits.refused-not-cut", "send-message.topic")
def test_a_longer_topic_is_refused_and_not_cut(member: Speaker, channel: Channel, limits: Json) -> None:
    topic = "ü" * (limits["max_topic_length"] + 1)
    check_error(member.request("POST", "messages", type="channel", to=channel.stream_id, topic=topic, content="x"))


@pytest.mark.holds("limits.channel-name")
def test_a_channel_name_may_be_as_long_as_the_limit_and_no_longer(member: Speaker, limits: Json) -> None:
    name = unique("long").ljust(limits["max_stream_name_length"], "ü")
    member.post("users/me/subscriptions", subscriptions=[{"name": name}])
    assert member.message(member.send(name, "topic"))["display_recipient"] == name
    check_error(member.request("POST", "users/me/subscriptions", subscriptions=[{"name": name + "x"}]))


@pytest.mark.holds("limits.channel-description")
def test_a_channel_description_may_be_as_long_as_the_limit_and_no_longer(member: Speaker, limits: Json) -> None:
    text = "ü" * int(limits["max_stream_description_length"])
    name = unique("described")
    member.post("users/me/subscriptions", subscriptions=[{"name": name, "description": text}])
    with Queue(member, event_types=[], fetch_event_types=["subscription"]) as queue:
        assert [found["description"] for found in queue.state["subscriptions"] if found["name"] == name] == [text]
    wordy = {"name": unique("described"), "description": text + "x"}
    check_error(member.request("POST", "users/me/subscriptions", subscriptions=[wordy]))


@pytest.mark.holds("limits.message", "limits.topic", "limits.refused-not-cut", "user-topics.topic")
def test_content_and_topics_have_their_limits_wherever_they_are_written(
    newcomer: Speaker, channel: Channel, limits: Json
) -> None:
    there = {"type": "channel", "to": channel.stream_id, "topic": "t", "content": "x"}
    stream_id, due = channel.stream_id, {"scheduled_delivery_timestamp": int(time.time()) + 3600}
    draft = {"type": "stream", "to": [stream_id], "topic": "t", "content": "x"}
    sent = f"messages/{newcomer.post('messages', **there)['id']}"
    later = f"scheduled_messages/{newcomer.post('scheduled_messages', **there, **due)['scheduled_message_id']}"
    kept = f"drafts/{newcomer.post('drafts', drafts=[draft])['ids'][0]}"
    for surplus in (1, 0):
        content = {"content": "ü" * (limits["max_message_length"] + surplus)}
        topic = {"topic": "ü" * (limits["max_topic_length"] + surplus)}
        calls: list[tuple[str, str, Json]] = [
            *(("POST", "messages", there | one) for one in (content, topic)),
            *(("POST", "scheduled_messages", there | due | one) for one in (content, topic)),
            *(("POST", "drafts", {"drafts": [draft | one]}) for one in (content, topic)),
            *(("PATCH", sent, one) for one in (content, topic)),
            *(("PATCH", later, one) for one in (content, topic)),
            *(("PATCH", kept, {"draft": draft | one}) for one in (content, topic)),
            ("POST", "messages/render", content),
            ("POST", "typing", {"op": "start", "type": "channel", "stream_id": stream_id, **topic}),
            ("POST", "user_topics", {"stream_id": stream_id, "visibility_policy": 1, **topic}),
            ("PATCH", "users/me/subscriptions/muted_topics", {"stream_id": stream_id, "op": "add", **topic}),
            ("POST", "mark_topic_as_read", {"stream_id": stream_id, "topic_name": topic["topic"]}),
        ]
        for method, path, fields in calls:
            reply = newcomer.request(method, path, **fields)
            assert reply.json().get("code") == ("BAD_REQUEST" if surplus else None), (method, path, surplus)
    found = sorted((len(one["topic"]), len(one["content"])) for one in newcomer.get("drafts")["drafts"])
    assert found == [(1, limits["max_message_length"]), *[(limits["max_topic_length"], 1)] * 2]  # nothing was cut


@pytest.mark.holds("limits.trimmed", "limits.topic", "user-topics.topic", "muted-topics.topic")
def test_a_length_is_what_is_left_after_trimming(
    owner: Speaker, newcomer: Speaker, channel: Channel, limits: Json
) -> None:
    def padded(text: str) -> str:
        return f"   {text}  "

    def long(limit: str) -> str:
        return padded(unique("long").ljust(limits[limit], "ü"))

    stream_id, due = channel.stream_id, {"scheduled_delivery_timestamp": int(time.time()) + 3600}
    topic = long("max_topic_length")
    there = {"type": "channel", "to": stream_id, "topic": topic, "content": "x"}
    described = {"name": long("max_stream_name_length"), "description": long("max_stream_description_length")}
    calls: list[tuple[str, str, Json]] = [
        ("POST", "messages", there | {"content": "x" * limits["max_message_length"] + "  "}),
        ("POST", "scheduled_messages", there | due),
        ("POST", "drafts", {"drafts": [{"type": "stream", "to": [stream_id], "topic": topic, "content": "x"}]}),
        ("POST", "typing", {"op": "start", "type": "channel", "stream_id": stream_id, "topic": topic}),
        ("POST", "user_topics", {"stream_id": stream_id, "visibility_policy": 1, "topic": topic}),
        ("PATCH", "users/me/subscriptions/muted_topics", {"stream_id": stream_id, "op": "remove", "topic": topic}),
        ("POST", "mark_topic_as_read", {"stream_id": stream_id, "topic_name": topic}),
        ("POST", "users/me/subscriptions", {"subscriptions": [described]}),
        ("POST", "users/me/status", {"status_text": padded("ü" * 60)}),
        ("POST", "saved_snippets", {"title": padded("ü" * 60), "content": "x"}),
    ]
    for method, path, fields in calls:
        reply = newcomer.request(method, path, **fields)
        assert reply.json()["result"] == "success", (method, path, reply.text)
    folder = {"name": long("max_channel_folder_name_length"), "description": ""}
    owner.post("channel_folders/create", **folder)
    made = newcomer.get("get_stream_id", stream=described["name"])["stream_id"]
    assert newcomer.get(f"streams/{made}")["stream"]["description"] == described["description"].strip()
