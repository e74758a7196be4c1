"""Versioning and what is kept for compatibility (protocol/basics.md#versioning)."""

import pytest

from tests.harness.server import Channel, Server
from tests.harness.talk import Queue, Speaker, check_success, unique

FUNCTIONS = [
    ("POST", "messages"),
    ("POST", "scheduled_messages"),
    ("PATCH", "scheduled_messages/1"),
    ("POST", "users/me/subscriptions"),
    ("POST", "users/me/subscriptions/properties"),
    ("POST", "typing"),
    ("POST", "user_topics"),
    ("PATCH", "users/me/subscriptions/muted_topics"),
    ("POST", "mark_topic_as_read"),
    ("GET", "messages/matches_narrow"),
    ("POST", "user_groups/create"),
    ("PATCH", "user_groups/1"),
    ("POST", "drafts"),
    ("PATCH", "drafts/1"),
    ("POST", "channel_folders/create"),
    ("POST", "users/me/status"),
    ("DELETE", "messages/1/reactions"),
    ("GET", "users"),
    ("GET", "users/1"),
    ("POST", "fetch_api_key"),
    ("GET", "server_settings"),
]


@pytest.mark.holds("versioning.prefix", "scope.addresses")
def test_the_prefix_is_api_v1(nobody: Speaker, server: Server) -> None:
    check_success(nobody.http.get(f"{server.url}/api/v1/server_settings"))
    assert nobody.http.get(f"{server.url}/api/v2/server_settings").status_code == 404


@pytest.mark.holds("scope.functions", "scope.addresses")
@pytest.mark.parametrize(("method", "path"), FUNCTIONS, ids=" ".join)
def test_each_function_is_served(nobody: Speaker, method: str, path: str) -> None:
    assert method in nobody.request("OPTIONS", path).headers["allow"].split(", ")


@pytest.mark.holds("versioning.level")
def test_the_feature_level_is_reported_and_the_same_everywhere(nobody: Speaker, member: Speaker) -> None:
    level = nobody.get("server_settings")["service_feature_level"]
    with Queue(member, event_types=[], fetch_event_types=[]) as queue:
        assert queue.state["service_feature_level"] == level
    assert level == 421


@pytest.mark.holds("versioning.level-167")
def test_level_167_names_unsupported_parameters(member: Speaker) -> None:
    assert member.get("users/me", new_idea=1)["ignored_parameters_unsupported"] == ["new_idea"]


@pytest.mark.holds("versioning.level-171", "fetch-api-key.answer")
def test_level_171_gives_the_user_id_with_the_key(nobody: Speaker, member: Speaker) -> None:
    assert nobody.post("fetch_api_key", username=member.email, password=member.user.password)["user_id"] == member.id


@pytest.mark.holds("versioning.level-174", "versioning.deprecated-private")
def test_level_174_direct_replaces_private_and_both_work(member: Speaker) -> None:
    for kind in ("direct", "private"):
        sent = member.post("messages", type=kind, to=[member.id], content="x")["id"]
        assert member.message(sent)["type"] == "private"


@pytest.mark.holds("versioning.level-248")
def test_level_248_channel_is_added_as_a_type_and_stream_still_works(member: Speaker, channel: Channel) -> None:
    for kind in ("channel", "stream"):
        sent = member.post("messages", type=kind, to=channel.stream_id, topic=unique("type"), content="x")["id"]
        assert member.message(sent)["type"] == "stream"


@pytest.mark.holds("versioning.level-334", "versioning.level-370", "conventions.empty-topic-input")
def test_levels_334_and_370_the_empty_string_and_no_topic_are_the_empty_topic(
    member: Speaker, channel: Channel
) -> None:
    for topic in ("", "(no topic)"):
        sent = member.send(channel.stream_id, topic)
        assert member.message(sent, allow_empty_topic_name=True)["subject"] == ""


@pytest.mark.holds("versioning.deprecated-subject")
def test_subject_still_works_as_topic(member: Speaker, channel: Channel) -> None:
    topic = unique("subject")
    sent = member.post("messages", type="stream", to=channel.name, subject=topic, content="x")["id"]
    assert member.message(sent)["subject"] == topic


@pytest.mark.holds(
    "versioning.deprecated-in-home-view",
    "versioning.deprecated-auth-methods",
    "versioning.deprecated-realm-uri",
)
def test_deprecated_fields_are_still_sent(nobody: Speaker, member: Speaker) -> None:
    settings = nobody.get("server_settings")
    assert {"authentication_methods", "realm_uri"} <= settings.keys()
    with Queue(member, event_types=[], fetch_event_types=["subscription"]) as queue:
        assert all(found["in_home_view"] is not found["is_muted"] for found in queue.state["subscriptions"])
