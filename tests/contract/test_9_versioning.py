"""Versioning and what is kept for compatibility (specification 9)."""

from tests.server import Channel, Server
from tests.talk import Queue, Speaker, check_success, unique


def test_the_prefix_is_api_v1(nobody: Speaker, server: Server) -> None:
    check_success(nobody.http.get(f"{server.url}/api/v1/server_settings"))
    assert nobody.http.get(f"{server.url}/api/v2/server_settings").status_code == 404


def test_the_feature_level_is_reported_and_the_same_everywhere(nobody: Speaker, member: Speaker) -> None:
    level = nobody.get("server_settings")["service_feature_level"]
    with Queue(member, event_types=[], fetch_event_types=[]) as queue:
        assert queue.state["service_feature_level"] == level
    # Everything the specification describes is older than this.
    assert level >= 387


def test_level_167_names_unsupported_parameters(member: Speaker) -> None:
    assert member.get("users/me", new_idea=1)["ignored_parameters_unsupported"] == ["new_idea"]


def test_level_171_gives_the_user_id_with_the_key(nobody: Speaker, member: Speaker) -> None:
    assert nobody.post("fetch_api_key", username=member.email, password=member.user.password)["user_id"] == member.id


def test_level_174_direct_replaces_private_and_both_work(member: Speaker) -> None:
    for kind in ("direct", "private"):
        sent = member.post("messages", type=kind, to=[member.id], content="x")["id"]
        assert member.message(sent)["type"] == "private"


def test_level_248_channel_is_added_as_a_type_and_stream_still_works(member: Speaker, channel: Channel) -> None:
    for kind in ("channel", "stream"):
        sent = member.post("messages", type=kind, to=channel.stream_id, topic=unique("type"), content="x")["id"]
        assert member.message(sent)["type"] == "stream"


def test_levels_334_and_370_the_empty_string_and_no_topic_are_the_empty_topic(
    member: Speaker, channel: Channel
) -> None:
    for topic in ("", "(no topic)"):
        sent = member.send(channel.stream_id, topic)
        assert member.message(sent, allow_empty_topic_name=True)["subject"] == ""


def test_subject_still_works_as_topic(member: Speaker, channel: Channel) -> None:
    topic = unique("subject")
    sent = member.post("messages", type="stream", to=channel.name, subject=topic, content="x")["id"]
    assert member.message(sent)["subject"] == topic


def test_deprecated_fields_are_still_sent(nobody: Speaker, member: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert {"authentication_methods", "realm_uri"} <= settings.keys()
    with Queue(member, event_types=[], fetch_event_types=["subscription"]) as queue:
        assert all(found["in_home_view"] is not found["is_muted"] for found in queue.state["subscriptions"])
