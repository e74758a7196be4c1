"""Channel settings on creation through subscribing (protocol/records.md#channel)."""

import time

import pytest

from tests.contract.groups import anonymous, make_group, system
from tests.contract.subscribing import SETTINGS, ask, find, join, make, sees
from tests.harness.talk import Speaker, check_error, unique


@pytest.mark.holds(
    "channel.invite-only",
    "channel.web-public",
    "channel.default-stream",
    "channel.topics-policy-default",
    "channel.permissions",
    "channel.name",
    "channel.description",
    "subscribe.settings",
)
def test_a_new_channel_has_the_default_settings(member: Speaker) -> None:
    before = int(time.time())
    channel = make(member, description="What *for*")
    nobody, everyone = system(member, "nobody"), system(member, "everyone")
    assert before - 2 <= channel.pop("date_created") <= time.time() + 2
    assert channel.pop("rendered_description") == "<p>What <em>for</em></p>"
    for key in ("stream_id", "name"):
        del channel[key]
    assert channel == {
        "description": "What *for*",
        "creator_id": member.id,
        "invite_only": False,
        "is_web_public": False,
        "history_public_to_subscribers": True,
        "is_archived": False,
        "is_recently_active": True,
        "first_message_id": None,
        "message_retention_days": None,
        "topics_policy": "inherit",
        "folder_id": None,
        "subscriber_count": 1,
        "stream_weekly_traffic": None,
        "stream_post_policy": 1,
        "is_announcement_only": False,
        **dict.fromkeys(SETTINGS, nobody),
        "can_administer_channel_group": anonymous([member.id], []),
        "can_create_topic_group": everyone,
        "can_remove_subscribers_group": system(member, "administrators"),
        "can_send_message_group": everyone,
    }


@pytest.mark.holds("channel.history", "channel.invite-only", "subscribe.settings")
def test_a_private_channel_protects_its_history_unless_told_otherwise(member: Speaker) -> None:
    protected = make(member, invite_only=True)
    assert (protected["invite_only"], protected["history_public_to_subscribers"]) == (True, False)
    shared = make(member, invite_only=True, history_public_to_subscribers=True)
    assert (shared["invite_only"], shared["history_public_to_subscribers"]) == (True, True)
    public = make(member, history_public_to_subscribers=False)
    assert (public["invite_only"], public["history_public_to_subscribers"]) == (False, True)


@pytest.mark.holds("channel.topics-policy", "subscribe.settings")
@pytest.mark.parametrize("policy", ["inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only"])
@pytest.mark.parametrize("quoted", [True, False])
def test_the_topics_policy_is_one_of_four_words_bare_or_quoted(member: Speaker, policy: str, quoted: bool) -> None:
    channel = make(member, topics_policy=f'"{policy}"' if quoted else policy)
    assert channel["topics_policy"] == policy


@pytest.mark.holds("channel.topics-policy")
def test_an_unknown_topics_policy_is_refused(member: Speaker) -> None:
    assert "topics_policy" in check_error(ask(member, unique("channel"), topics_policy="sometimes"))


@pytest.mark.holds("channel.retention", "subscribe.settings")
@pytest.mark.parametrize(
    ("sent", "stored"),
    [("30", 30), ("unlimited", -1), ('"unlimited"', -1), ("realm_default", None), ('"realm_default"', None)],
)
def test_messages_are_kept_for_days_or_as_a_special_word_says(owner: Speaker, sent: str, stored: int | None) -> None:
    assert make(owner, message_retention_days=sent)["message_retention_days"] == stored


@pytest.mark.holds("channel.retention")
@pytest.mark.parametrize("sent", ["0", "-1", "-30", "for ever", '"30"', "1.5", "true", "[]"])
def test_other_retention_values_are_refused(owner: Speaker, sent: str) -> None:
    assert "message_retention_days" in check_error(ask(owner, unique("channel"), message_retention_days=sent))


@pytest.mark.holds("channel.retention")
def test_only_owners_say_how_long_messages_are_kept(member: Speaker) -> None:
    reply = ask(member, unique("channel"), message_retention_days=30)
    check_error(reply, "UNAUTHORIZED_PRINCIPAL")
    make(member, message_retention_days="realm_default")


@pytest.mark.holds("channel.permissions", "subscribe.group-forms", "subscribe.settings")
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_group_setting_takes_both_forms(owner: Speaker, member: Speaker, other: Speaker, setting: str) -> None:
    moderators = system(owner, "moderators")
    assert make(owner, **{setting: moderators})[setting] == moderators
    listed = make(owner, **{setting: anonymous([other.id, member.id], [moderators])})[setting]
    assert listed == anonymous(sorted([member.id, other.id]), [moderators])
    assert make(owner, **{setting: anonymous([], [moderators])})[setting] == moderators
    assert make(owner, **{setting: anonymous([], [])})[setting] == system(owner, "nobody")


@pytest.mark.holds("channel.permission-values", "group-setting.forbidden")
@pytest.mark.parametrize("setting", SETTINGS)
def test_no_group_setting_may_be_everybody_on_the_internet(owner: Speaker, setting: str) -> None:
    internet = system(owner, "internet")
    for value in (internet, anonymous([], [internet]), anonymous([owner.id], [internet])):
        check_error(ask(owner, unique("channel"), **{setting: value}))


@pytest.mark.holds("channel.permission-values", "group-setting.forbidden")
@pytest.mark.parametrize(
    "setting", ["can_add_subscribers_group", "can_administer_channel_group", "can_subscribe_group"]
)
def test_guests_cannot_hold_some_settings(owner: Speaker, setting: str) -> None:
    everyone = system(owner, "everyone")
    for value in (everyone, anonymous([], [everyone]), anonymous([owner.id], [everyone])):
        check_error(ask(owner, unique("channel"), **{setting: value}))


@pytest.mark.holds("group-setting.exists")
def test_a_setting_names_only_groups_and_users_that_are_there(owner: Speaker) -> None:
    gone = make_group(owner)
    owner.post(f"user_groups/{gone}/deactivate")
    for value in (999_999_999, gone, anonymous([999_999_999], []), anonymous([], [999_999_999]), anonymous([], [gone])):
        name = unique("channel")
        check_error(ask(owner, name, can_send_message_group=value))
        assert name not in [channel["name"] for channel in owner.get("streams")["streams"]]


@pytest.mark.holds("channel.permissions")
def test_the_old_posting_policy_mirrors_who_may_send(owner: Speaker) -> None:
    for group, policy in (("everyone", 1), ("administrators", 2), ("fullmembers", 3), ("moderators", 4), ("owners", 1)):
        channel = make(owner, can_send_message_group=system(owner, group))
        assert (channel["stream_post_policy"], channel["is_announcement_only"]) == (policy, policy == 2)


@pytest.mark.holds("channel.permissions")
def test_only_some_may_say_who_deletes_messages(member: Speaker, owner: Speaker) -> None:
    for setting in ("can_delete_any_message_group", "can_delete_own_message_group"):
        check_error(ask(member, unique("channel"), **{setting: system(member, "members")}))
        make(member, **{setting: system(member, "nobody")})
        make(owner, **{setting: system(owner, "members")})


@pytest.mark.holds("channel.history")
def test_topics_are_opened_by_everybody_where_the_history_is_protected(owner: Speaker) -> None:
    moderators = system(owner, "moderators")
    check_error(ask(owner, unique("channel"), invite_only=True, can_create_topic_group=moderators))
    make(owner, invite_only=True, history_public_to_subscribers=True, can_create_topic_group=moderators)


@pytest.mark.holds("channel.web-public-conditions")
def test_a_web_public_channel_needs_the_server_and_the_organization(owner: Speaker, member: Speaker) -> None:
    check_error(ask(owner, unique("channel"), is_web_public=True))
    check_error(ask(member, unique("channel"), is_web_public=True))
    check_error(ask(owner, unique("channel"), is_web_public=True, invite_only=True))


@pytest.mark.holds("channel.default-stream", "subscribe.settings")
def test_default_channels_are_made_by_administrators_and_are_public(owner: Speaker, member: Speaker) -> None:
    check_error(ask(member, unique("channel"), is_default_stream=True))
    check_error(ask(owner, unique("channel"), is_default_stream=True, invite_only=True))
    channel = make(owner, is_default_stream=True)
    marked = owner.get("streams", include_default=True)["streams"]
    assert [one["is_default"] for one in marked if one["stream_id"] == channel["stream_id"]] == [True]
    owner.delete("default_streams", stream_id=channel["stream_id"])


@pytest.mark.holds("channel.default-stream")
def test_whoever_comes_new_is_in_the_default_channels(owner: Speaker) -> None:
    channel = make(owner, is_default_stream=True)
    email = unique("newcomer").replace(" ", ".") + "@example.com"
    user_id = owner.post("users", email=email, password=unique("Nobody guesses"), full_name="New Comer")["user_id"]
    status = owner.get(f"users/{user_id}/subscriptions/{channel['stream_id']}")
    assert status["is_subscribed"] is True
    assert channel["stream_id"] in owner.get(f"users/{user_id}/channels")["subscribed_channel_ids"]
    owner.delete("default_streams", stream_id=channel["stream_id"])


@pytest.mark.holds("channel.default-stream")
def test_the_default_channels_are_told_and_listed(owner: Speaker, member: Speaker, guest: Speaker) -> None:
    channel = make(owner)
    options = {"event_types": ["default_streams", "message"], "fetch_event_types": ["default_streams"]}
    with member.register(**options) as theirs, guest.register(**options) as guests:
        assert channel["stream_id"] not in theirs.state["realm_default_streams"]
        assert guests.state["realm_default_streams"] == []
        for _ in range(2):
            owner.post("default_streams", stream_id=channel["stream_id"])
        for _ in range(2):
            owner.delete("default_streams", stream_id=channel["stream_id"])
        told = [event["default_streams"] for event in theirs.so_far() if event["type"] == "default_streams"]
        assert [channel["stream_id"] in ids for ids in told] == [True, False]
        assert not [event for event in guests.so_far() if event["type"] == "default_streams"]
    check_error(member.request("POST", "default_streams", stream_id=channel["stream_id"]), "UNAUTHORIZED_PRINCIPAL")
    private = make(owner, invite_only=True)
    check_error(owner.request("POST", "default_streams", stream_id=private["stream_id"]))


@pytest.mark.holds("channel.name")
@pytest.mark.parametrize("name", ["", "   ", "a\x07b", "a\ufdd0b"])
def test_a_channels_name_has_rules(member: Speaker, name: str) -> None:
    check_error(ask(member, name))


@pytest.mark.holds("channel.name")
def test_names_are_trimmed_and_unique_whatever_the_case(member: Speaker, other: Speaker) -> None:
    name = unique("Channel Ä")
    join(member, f"  {name} ")
    channel = find(member, name)
    assert join(other, name.upper())["subscribed"] == {str(other.id): [name]}
    assert find(other, name)["stream_id"] == channel["stream_id"]


@pytest.mark.holds("channel.description")
def test_a_description_is_one_line(member: Speaker) -> None:
    assert make(member, description="one\ntwo\r\nthree")["description"] == "one two three"
    assert "<b>" not in make(member, description="<b>bold</b>")["rendered_description"]


@pytest.mark.holds("channel.seen-by")
def test_a_channel_is_seen_by_those_who_may(member: Speaker, other: Speaker, owner: Speaker, guest: Speaker) -> None:
    public, private = make(member), make(member, invite_only=True)
    assert [sees(who, public) for who in (member, other, owner, guest)] == [True, True, True, False]
    assert [sees(who, private) for who in (member, other, owner, guest)] == [True, False, True, False]
    opened = make(member, invite_only=True, can_subscribe_group=anonymous([other.id, guest.id], []))
    assert [sees(who, opened) for who in (other, guest)] == [True, False]


@pytest.mark.holds("channel.create")
def test_a_channel_is_made_without_subscribing(member: Speaker, other: Speaker) -> None:
    name = unique("channel")
    made = member.post("channels/create", name=f" {name} ", subscribers=[other.id], description="What for")
    channel = find(member, name)
    assert (made["id"], channel["description"], channel["subscriber_count"]) == (channel["stream_id"], "What for", 1)
    again = member.request("POST", "channels/create", name=name.upper(), subscribers=[])
    check_error(again, "CHANNEL_ALREADY_EXISTS", 409, channel_name=name.upper())
    empty = member.post("channels/create", name=unique("channel"), subscribers=[])["id"]
    assert member.get(f"streams/{empty}")["stream"]["subscriber_count"] == 0
    check_error(member.request("POST", "channels/create", name=" ", subscribers=[]))
