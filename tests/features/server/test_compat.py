"""Older names beside ours, sent and not sent."""

from collections.abc import Iterator

import pytest

from tertulia.kernel.compat import ACCEPTED, KEPT, TABLE, WHOLE
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Json, Queue, Speaker

OLD = {one.old for one in TABLE} - {"user", "sender_id", "uri"}
"""Those that are nothing but older names wherever they are."""


@pytest.fixture(scope="module")
def modern(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web process that does not send older names."""
    web = Web(server, tmp_path_factory.mktemp("modern"), compat_aliases="false")
    try:
        yield web.wait()
    finally:
        web.stop()


def keys_in(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys_in, value))
    if isinstance(value, dict):
        return set(value).union(*map(keys_in, value.values()))
    return set()


def older_in(value: object) -> set[str]:
    return OLD & keys_in(value)


def live(speaker: Speaker, friend: Speaker, queue: Queue, realm: Realm) -> list[Json]:
    """Do something of everything that has an older name; the events."""
    channel = realm.stage.channel(speaker, friend, realm_id=realm.id)
    sent = speaker.send(channel.stream_id, "tea", queue_id=queue.id, local_id="7")
    speaker.post(f"messages/{sent}/reactions", emoji_name="tertulia")
    speaker.post("messages/flags", messages=[sent], op="add", flag="starred")
    wish = [{"stream_id": channel.stream_id, "property": "is_muted", "value": True}]
    speaker.post("users/me/subscriptions/properties", subscription_data=wish)
    speaker.post("user_topics", stream_id=channel.stream_id, topic="tea", visibility_policy=1)
    for change in (
        {"topics_policy": "disable_empty_topic"},
        {"can_mention_many_users_group": {"new": everyone(realm)}},
    ):
        assert realm.owner.request("PATCH", "realm", **change).status_code == 200
    shown = speaker.get(f"messages/{sent}")
    assert shown["message"]["reactions"][0]["reaction_type"] == "service_extra_emoji"
    return [*queue.so_far(), shown]


def everyone(realm: Realm) -> int:
    groups = realm.owner.get("user_groups")["user_groups"]
    found: int = next(group["id"] for group in groups if group["name"] == "role:everyone")
    return found


def test_older_names_are_sent_beside_ours(realm: Realm) -> None:
    with Queue(realm.owner) as queue:
        events = live(realm.owner, realm.member, queue, realm)
        settings = realm.owner.get("server_settings")
    sent = older_in([queue.state, events, settings])
    assert {*OLD} <= sent
    properties = {event.get("property") for event in events}
    assert {"in_home_view", "mandatory_topics", "wildcard_mention_policy"} <= properties
    assert "muted_topics" in {event.get("type") for event in events}
    [reaction] = [event for event in events if event.get("type") == "reaction"]
    assert reaction["user"]["full_name"]
    assert settings["realm_uri"] == settings["realm_url"]
    assert queue.state["realm_wildcard_mention_policy"] == 5


def test_a_setting_turns_them_off(realm: Realm, modern: Web) -> None:
    owner, member = (realm.as_user(speaker.user, url=modern.url) for speaker in (realm.owner, realm.member))
    with Queue(owner) as queue:
        events = live(owner, member, queue, realm)
        settings = owner.get("server_settings")
    assert not older_in([queue.state, events, settings])
    assert "muted_topics" not in queue.state
    assert not {"mandatory_topics", "wildcard_mention_policy"} & {e.get("property") for e in events}
    assert "muted_topics" not in {event.get("type") for event in events}
    [reaction] = [event for event in events if event.get("type") == "reaction"]
    assert "user" not in reaction
    direct = owner.send([member.id])
    assert member.unread()["pms"] == [{"other_user_id": owner.id, "unread_message_ids": [direct]}]
    assert queue.state["service_version"]
    assert {"is_muted", "topics_policy"} <= {event.get("property") for event in events}


@pytest.mark.holds(
    "versioning.deprecated-realm-uri", "versioning.deprecated-in-home-view", "subscription-properties.two-events"
)
def test_names_of_the_protocol_itself_are_sent_whatever_the_setting_says(realm: Realm, modern: Web) -> None:
    owner, member = (realm.as_user(speaker.user, url=modern.url) for speaker in (realm.owner, realm.member))
    with Queue(owner) as queue:
        events = live(owner, member, queue, realm)
        settings = owner.get("server_settings")
    assert settings["realm_uri"] == settings["realm_url"]
    assert queue.state["realm_uri"] == queue.state["realm_url"]
    changed = [
        (event["property"], event["value"])
        for event in events
        if event.get("type") == "subscription" and event["op"] == "update"
    ]
    assert changed == [("in_home_view", False), ("is_muted", True)]
    again = owner.post("register", event_types=[], fetch_event_types=["subscription"])["subscriptions"]
    assert all(one["in_home_view"] is not one["is_muted"] for one in again)
    assert any(one["is_muted"] for one in again)


def test_existing_clients_read_the_older_spelling_of_an_emoji(realm: Realm, modern: Web) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "tea")
    realm.owner.post(f"messages/{sent}/reactions", emoji_name="tertulia", reaction_type="zulip_extra_emoji")
    for url, agent, spelling in (
        (None, "ZulipFlutter/30", "zulip_extra_emoji"),
        (None, "curl/8", "service_extra_emoji"),
        (modern.url, "ZulipFlutter/30", "service_extra_emoji"),
    ):
        reader = realm.as_user(realm.owner.user, url=url)
        reader.http.headers["user-agent"] = agent
        assert [one["reaction_type"] for one in reader.message(sent)["reactions"]] == [spelling]


def test_settings_at_the_top_are_for_those_who_ask_for_them_by_the_older_type(realm: Realm, modern: Web) -> None:
    types = ["update_display_settings", "update_global_notifications"]
    old = realm.owner.post("register", event_types=[], fetch_event_types=types)
    assert {"twenty_four_hour_time", "pm_content_in_desktop_notifications"} <= old.keys()
    owner = realm.as_user(realm.owner.user, url=modern.url)
    new = owner.post("register", event_types=[], fetch_event_types=types)
    assert "twenty_four_hour_time" not in new


def test_the_table_names_each_older_name_once(stage: Stage) -> None:
    for table in (TABLE, KEPT, WHOLE, ACCEPTED):
        assert len({one.old for one in table}) == len(table)
