"""POST /register (protocol/events.md#register)."""

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, unique

ALWAYS = {
    *("queue_id", "last_event_id", "idle_queue_timeout_secs"),
    *("service_version", "service_merge_base", "service_feature_level"),
}
STATE = {
    "message": {"max_message_id"},
    "realm": {"realm_name", "realm_url", "max_message_length", "realm_empty_topic_display_name"},
    "realm_user": {"realm_users", "realm_non_active_users", "cross_realm_bots", "user_id", "email", "is_admin"},
    "subscription": {"subscriptions", "unsubscribed", "never_subscribed"},
}
CHANNEL_KEYS = {
    *("stream_id", "name", "description", "rendered_description", "date_created", "creator_id", "invite_only"),
    *("is_web_public", "history_public_to_subscribers", "is_archived", "is_announcement_only", "stream_post_policy"),
    *("message_retention_days", "first_message_id", "folder_id", "is_recently_active", "topics_policy"),
    *("subscriber_count", "stream_weekly_traffic", "can_send_message_group", "can_subscribe_group"),
    *("can_add_subscribers_group", "can_remove_subscribers_group", "can_administer_channel_group"),
    *("can_delete_any_message_group", "can_delete_own_message_group", "can_resolve_topics_group"),
    *("can_move_messages_out_of_channel_group", "can_move_messages_within_channel_group", "can_create_topic_group"),
}
PERSONAL_KEYS = {
    *("color", "is_muted", "in_home_view", "pin_to_top", "desktop_notifications", "audible_notifications"),
    *("push_notifications", "email_notifications", "wildcard_mentions_notify"),
}


def state(speaker: Speaker, **options: object) -> Json:
    """What a registration answers; its queue is not kept."""
    with Queue(speaker, **options) as queue:
        return queue.state


# Parameters


@pytest.mark.holds("register.always")
def test_some_keys_are_always_there(member: Speaker) -> None:
    found = state(member, fetch_event_types=[])
    assert found.keys() >= ALWAYS
    assert (type(found["queue_id"]), type(found["last_event_id"])) == (str, int)
    for keys in STATE.values():
        assert found.keys().isdisjoint(keys)


@pytest.mark.holds("register.fetch-types")
@pytest.mark.parametrize("kind", STATE)
def test_fetch_event_types_choose_the_state(member: Speaker, kind: str) -> None:
    found = state(member, event_types=[], fetch_event_types=[kind])
    assert found.keys() >= STATE[kind] | ALWAYS
    for other, keys in STATE.items():
        assert other == kind or found.keys().isdisjoint(keys)


@pytest.mark.holds("register.fetch-types")
def test_without_fetch_event_types_event_types_choose_it(member: Speaker) -> None:
    found = state(member, event_types=["subscription"])
    assert found.keys() >= STATE["subscription"]
    assert "realm_name" not in found


@pytest.mark.holds("register.fetch-types")
def test_without_either_everything_is_there(member: Speaker) -> None:
    found = state(member)
    for keys in STATE.values():
        assert found.keys() >= keys
    assert "unread_msgs" in found


@pytest.mark.holds("register.unread-types")
def test_unread_messages_need_both_types(member: Speaker) -> None:
    assert "unread_msgs" in state(member, fetch_event_types=["message", "update_message_flags"])
    assert "unread_msgs" not in state(member, fetch_event_types=["message"])
    alone = state(member, fetch_event_types=["update_message_flags"])
    assert alone.keys().isdisjoint({"unread_msgs", "max_message_id"})


@pytest.mark.holds("register.unknown-types")
def test_unknown_types_are_ignored(member: Speaker, channel: Channel) -> None:
    unknown = ["zulip_version", "update_display_settings", "messages", "pointer", "", "message"]
    with Queue(member, event_types=unknown, fetch_event_types=unknown) as queue:
        sent = member.send(channel.stream_id, unique("types"))
        assert queue.message_event(sent)["message"]["id"] == sent


@pytest.mark.holds("register.event-types")
def test_only_the_types_asked_for_are_delivered(member: Speaker, channel: Channel) -> None:
    with (
        Queue(member, event_types=["message"], fetch_event_types=[]) as messages,
        Queue(member, event_types=["update_message_flags"], fetch_event_types=[]) as flags,
        Queue(member, fetch_event_types=[]) as everything,
    ):
        sent = member.send(channel.stream_id, unique("types"))
        member.post("messages/flags", messages=[sent], op="add", flag="read")
        assert {event["type"] for event in messages.so_far()} == {"message"}
        assert [event["type"] for event in flags.poll()] == ["update_message_flags"]
        assert {event["type"] for event in everything.so_far()} >= {"message", "update_message_flags"}


@pytest.mark.holds("register.idle-timeout")
@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(None, 600), (1, 1), (900, 900), (604_800, 604_800), (10**9, 604_800), ('"mobile"', 43_200), ("mobile", 43_200)],
)
def test_the_idle_time_can_be_chosen_up_to_a_week(member: Speaker, asked: object, seconds: int) -> None:
    found = state(member, event_types=[], fetch_event_types=[], idle_queue_timeout=asked)
    assert found["idle_queue_timeout_secs"] == seconds


@pytest.mark.holds("register.idle-timeout")
@pytest.mark.parametrize("asked", ["0", "-5", "1.5", "true", '"desktop"', "[]", "soon", ""])
def test_another_idle_time_is_refused(member: Speaker, asked: str) -> None:
    assert "idle_queue_timeout" in check_error(member.request("POST", "register", idle_queue_timeout=asked))


@pytest.mark.holds("register.capabilities")
def test_capabilities_name_one_that_is_mandatory(member: Speaker) -> None:
    refused = member.request("POST", "register", client_capabilities={"empty_topic_name": True})
    assert "notification_settings_null" in check_error(refused)


@pytest.mark.holds("register.capabilities")
def test_unknown_capabilities_are_ignored(member: Speaker) -> None:
    capabilities = {"notification_settings_null": False, "telepathy": {"deep": 1}}
    state(member, fetch_event_types=[], client_capabilities=capabilities)


@pytest.mark.holds("user.avatar-url-optional")
def test_avatars_are_sent_to_clients_that_could_do_without(member: Speaker) -> None:
    capabilities = {"notification_settings_null": True, "user_avatar_url_field_optional": True}
    found = state(member, fetch_event_types=["realm_user"], client_capabilities=capabilities)
    assert [user for user in found["realm_users"] if "avatar_url" not in user] == []


@pytest.mark.holds("register.capabilities")
@pytest.mark.parametrize("value", ["1", '"yes"', "null"])
def test_a_capability_is_a_boolean(member: Speaker, value: str) -> None:
    capabilities = f'{{"notification_settings_null": {value}}}'
    check_error(member.request("POST", "register", client_capabilities=capabilities))


@pytest.mark.holds("register.malformed")
@pytest.mark.parametrize(
    "fields",
    [
        {"event_types": "message"},
        {"event_types": "{}"},
        {"event_types": "[5]"},
        {"fetch_event_types": "[null]"},
        {"apply_markdown": "1"},
        {"include_subscribers": "maybe"},
        {"all_public_streams": "x"},
        {"narrow": "x"},
        {"narrow": "[[1, 2]]"},
    ],
)
def test_a_malformed_parameter_is_refused(member: Speaker, fields: Json) -> None:
    [name] = fields
    assert name in check_error(member.request("POST", "register", **fields))


@pytest.mark.holds("register.existing-clients")
def test_what_existing_clients_send_is_accepted(member: Speaker) -> None:
    found = state(
        member,
        event_types="null",
        narrow=[],
        all_public_streams=False,
        slim_presence=True,
        client_gravatar=False,
        include_subscribers="partial",
        presence_history_limit_days=0,
        client="tests",
    )
    assert "ignored_parameters_unsupported" not in found


# State


@pytest.mark.holds("register.continues")
def test_a_fresh_queue_continues_the_state(member: Speaker, other: Speaker, channel: Channel) -> None:
    before = other.send(channel.stream_id, unique("before"))
    with Queue(member, event_types=["message"], fetch_event_types=["message"]) as queue:
        assert queue.state["max_message_id"] == before
        after = other.send(channel.stream_id, unique("after"))
        assert [event["message"]["id"] for event in queue.until_message(after)] == [after]


@pytest.mark.holds("register.channels", "subscription.record")
def test_a_subscription_has_all_its_keys(member: Speaker, channel: Channel) -> None:
    found = state(member, fetch_event_types=["subscription"])
    [own] = [each for each in found["subscriptions"] if each["stream_id"] == channel.stream_id]
    assert own.keys() >= CHANNEL_KEYS | PERSONAL_KEYS
    assert "subscribers" not in own
    assert own["in_home_view"] is not own["is_muted"]
    assert own["subscriber_count"] >= 3


@pytest.mark.holds("subscription.subscribers")
@pytest.mark.parametrize("asked", ["true", "partial"])
def test_subscribers_are_listed_when_asked_for(member: Speaker, channel: Channel, asked: str) -> None:
    found = state(member, fetch_event_types=["subscription"], include_subscribers=asked)
    [own] = [each for each in found["subscriptions"] if each["stream_id"] == channel.stream_id]
    listed = own.get("subscribers", own.get("partial_subscribers"))
    assert member.id in listed
    assert own["subscriber_count"] >= len(listed)


@pytest.mark.holds("register.channels")
def test_a_channel_is_in_one_list_only_and_moves_between_them(member: Speaker, owner: Speaker) -> None:
    name = unique("lists")
    owner.post("users/me/subscriptions", subscriptions=[{"name": name}])

    def where() -> list[str]:
        found = state(member, fetch_event_types=["subscription"])
        lists = ("subscriptions", "unsubscribed", "never_subscribed")
        return [key for key in lists if name in {channel["name"] for channel in found[key]}]

    assert where() == ["never_subscribed"]
    member.post("users/me/subscriptions", subscriptions=[{"name": name}])
    assert where() == ["subscriptions"]
    member.delete("users/me/subscriptions", subscriptions=[name])
    assert where() == ["unsubscribed"]


@pytest.mark.holds("register.channels", "channel.seen-by")
def test_a_private_channel_is_nowhere_for_those_outside(member: Speaker, private: Channel) -> None:
    found = state(member, fetch_event_types=["subscription"], include_subscribers="true")
    for key in ("subscriptions", "unsubscribed", "never_subscribed"):
        assert private.stream_id not in {channel["stream_id"] for channel in found[key]}


@pytest.mark.holds("register.channels", "channel.seen-by")
def test_a_guest_sees_subscribed_channels_only(guest: Speaker, channel: Channel) -> None:
    found = state(guest, fetch_event_types=["subscription"])
    assert found["never_subscribed"] == []
    assert channel.stream_id not in {each["stream_id"] for each in found["subscriptions"] + found["unsubscribed"]}


@pytest.mark.holds("register.users")
def test_users_are_listed_without_is_active(member: Speaker, bot: Speaker, owner: Speaker, newcomer: Speaker) -> None:
    owner.delete(f"users/{newcomer.id}")
    found = state(member, fetch_event_types=["realm_user"])
    [gone] = [user for user in found["realm_non_active_users"] if user["user_id"] == newcomer.id]
    assert "is_active" not in gone
    assert newcomer.id not in {user["user_id"] for user in found["realm_users"]}
    users = {user["user_id"]: user for user in found["realm_users"]}
    assert {member.id, bot.id} <= users.keys()
    assert all("is_active" not in user for user in users.values())
    assert users[member.id]["profile_data"] == {}
    assert "profile_data" not in users[bot.id]
    assert (found["user_id"], found["email"]) == (member.id, member.email)


@pytest.mark.holds("register.me")
def test_who_the_caller_is(owner: Speaker, member: Speaker, guest: Speaker) -> None:
    words = ("is_owner", "is_admin", "is_moderator", "is_guest")
    expected = {owner: [True, True, False, False], member: [False] * 4, guest: [False, False, False, True]}
    for speaker, answers in expected.items():
        found = state(speaker, fetch_event_types=["realm_user"])
        assert [found[word] for word in words] == answers


@pytest.mark.holds("register.unread")
def test_unread_messages_are_grouped_by_conversation_and_topic(
    member: Speaker, other: Speaker, owner: Speaker, channel: Channel
) -> None:
    topic = unique("Unread")
    first, second = other.send(channel.stream_id, topic), other.send(channel.stream_id, topic.upper())
    direct, group = other.send([member.id]), other.send([member.id, owner.id])
    own = member.send([member.id])
    unread = member.unread()
    assert {"stream_id": channel.stream_id, "topic": topic, "unread_message_ids": [first, second]} in unread["streams"]
    people = {entry["other_user_id"]: entry for entry in unread["pms"]}
    assert direct in people[other.id]["unread_message_ids"]
    assert own in people[member.id]["unread_message_ids"]
    assert all(entry["sender_id"] == entry["other_user_id"] for entry in unread["pms"])
    everyone = ",".join(map(str, sorted([member.id, other.id, owner.id])))
    [huddle] = [entry for entry in unread["huddles"] if entry["user_ids_string"] == everyone]
    assert group in huddle["unread_message_ids"]
    assert not {first, second, direct, group, own} & set(unread["mentions"])
    assert unread["old_unreads_missing"] is False
    lists = [entry["unread_message_ids"] for kind in ("pms", "huddles", "streams") for entry in unread[kind]]
    assert all(ids == sorted(ids) for ids in lists)
    assert unread["count"] == sum(map(len, lists))


@pytest.mark.holds("register.empty-topic")
def test_the_empty_topic_is_named_in_unread_messages_as_the_client_wants(
    member: Speaker, other: Speaker, empty_topic: str
) -> None:
    name = unique("empty topics")
    for speaker in (member, other):
        speaker.post("users/me/subscriptions", subscriptions=[{"name": name}])
    other.send(name, "")
    types = ["message", "update_message_flags"]
    capable = {"notification_settings_null": True, "empty_topic_name": True}
    for capabilities, shown in ((None, empty_topic), (capable, "")):
        found = state(member, fetch_event_types=types, client_capabilities=capabilities)["unread_msgs"]["streams"]
        assert shown in {entry["topic"] for entry in found}
        assert ({empty_topic, ""} - {shown}).isdisjoint(entry["topic"] for entry in found)
