"""POST /users/me/subscriptions, and unsubscribing (protocol/channels.md#subscribe)."""

from contextlib import nullcontext

import pytest

from tests.contract.groups import anonymous, reserved, system
from tests.contract.subscribing import (
    SETTINGS,
    ask,
    find,
    heard,
    join,
    kinds,
    leave,
    listening,
    make,
    members,
    sees,
    subscription,
)
from tests.harness.talk import Json, Speaker, check_error, check_success, unique


@pytest.mark.holds("subscribe.creates", "subscribe.answer", "subscribe.principals-absent", "subscribe.description")
def test_channels_that_do_not_exist_are_made(member: Speaker) -> None:
    names = [unique("channel"), unique("channel")]
    wanted = [{"name": names[0], "description": "What for"}, {"name": names[1]}]
    reply = member.post("users/me/subscriptions", subscriptions=wanted)
    assert set(reply) == {
        *("result", "msg"),
        *("subscribed", "already_subscribed", "new_subscription_messages_sent"),
    }
    assert {user: sorted(found) for user, found in reply["subscribed"].items()} == {str(member.id): sorted(names)}
    assert reply["already_subscribed"] == {}
    assert [find(member, name)["description"] for name in names] == ["What for", ""]


@pytest.mark.holds("subscribe.subscriptions", "subscribe.name")
def test_subscriptions_are_required_and_have_names(member: Speaker) -> None:
    assert "subscriptions" in check_error(member.request("POST", "users/me/subscriptions"))
    for wrong in ("x", "{}", "[1]", '["name"]', '[{"description": "x"}]', '[{"name": 1}]'):
        check_error(member.request("POST", "users/me/subscriptions", subscriptions=wrong))


@pytest.mark.holds("subscribe.name", "subscribe.description", "limits.channel-name", "limits.channel-description")
def test_names_and_descriptions_have_the_published_limits(member: Speaker) -> None:
    state = member.post("register", event_types=[], fetch_event_types=["realm"])
    check_error(ask(member, "x" * (state["max_stream_name_length"] + 1)))
    description = "x" * (state["max_stream_description_length"] + 1)
    wanted = [{"name": unique("channel"), "description": description}]
    check_error(member.request("POST", "users/me/subscriptions", subscriptions=wanted))


@pytest.mark.holds("subscribe.answer")
def test_whoever_is_subscribed_already_is_told_so_with_the_stored_name(member: Speaker) -> None:
    channel = make(member)
    reply = join(member, channel["name"].upper())
    assert (reply["subscribed"], reply["already_subscribed"]) == ({}, {str(member.id): [channel["name"]]})


@pytest.mark.holds("subscribe.settings-new-only", "subscribe.description")
def test_the_settings_of_an_existing_channel_do_not_change(owner: Speaker, other: Speaker) -> None:
    channel = make(owner)
    wanted = [{"name": channel["name"], "description": "Another"}]
    settings = dict.fromkeys(SETTINGS, system(owner, "moderators"))
    owner.post(
        "users/me/subscriptions",
        subscriptions=wanted,
        invite_only=True,
        history_public_to_subscribers=False,
        is_default_stream=True,
        message_retention_days=10,
        topics_policy="empty_topic_only",
        **settings,
    )
    assert find(owner, channel["name"]) == channel
    # Nor are the rights asked for that only a new channel would need.
    join(other, channel["name"], is_default_stream=True, message_retention_days=10, is_web_public=True)


@pytest.mark.holds("subscribe.principals")
def test_others_are_subscribed_by_id_or_by_address(
    member: Speaker, other: Speaker, owner: Speaker, bot: Speaker
) -> None:
    channel = make(member, principals=[other.id, bot.id])
    assert members(member, channel) == sorted([other.id, bot.id])
    reply = join(member, channel["name"], principals=[owner.email.upper(), member.email])
    assert reply["subscribed"] == {str(user.id): [channel["name"]] for user in (owner, member)}
    again = join(member, channel["name"], principals=[owner.id])
    assert again["already_subscribed"] == {str(owner.id): [channel["name"]]}


@pytest.mark.holds("subscribe.principals-absent")
def test_no_principals_are_the_caller(member: Speaker) -> None:
    channel = make(member, principals=[])
    assert members(member, channel) == [member.id]


@pytest.mark.holds("subscribe.unknown-principals")
def test_unknown_and_deactivated_principals_are_refused(member: Speaker, owner: Speaker, newcomer: Speaker) -> None:
    channel = make(member)
    for wrong in ([999_999_999], ["nobody@example.com"], [member.id, 0], [-1]):
        check_error(ask(member, channel["name"], principals=wrong))
    owner.delete(f"users/{newcomer.id}")
    for wrong in ([newcomer.id], [newcomer.email]):
        check_error(ask(member, channel["name"], principals=wrong))
    for mixed in ('[1, "x"]', "1", "{}", "[1.5]", "[true]"):
        check_error(ask(member, channel["name"], principals=mixed))
    name = unique("channel")
    check_error(ask(member, name, principals=[999_999_999]))
    assert not sees(owner, {"name": name})  # nothing was left behind


@pytest.mark.holds("subscribe.guests")
def test_guests_subscribe_nobody(guest: Speaker, member: Speaker) -> None:
    channel = make(member)
    check_error(ask(guest, channel["name"]))
    check_error(ask(guest, unique("channel")))
    own = make(member, principals=[member.id, guest.id])
    check_error(ask(guest, own["name"], principals=[member.id]))


@pytest.mark.holds("subscribe.errors-fatal")
def test_a_private_channel_is_closed_to_those_outside(member: Speaker, other: Speaker, owner: Speaker) -> None:
    channel = make(member, invite_only=True)
    for outsider in (other, owner):
        check_error(ask(outsider, channel["name"]))
        check_error(ask(outsider, channel["name"], principals=[member.id]))
    assert members(member, channel) == [member.id]


@pytest.mark.holds("subscribe.errors-listed")
def test_unauthorized_channels_are_listed_when_errors_are_not_fatal(member: Speaker, other: Speaker) -> None:
    private, public = make(member, invite_only=True), make(member)
    reply = join(other, private["name"], public["name"], authorization_errors_fatal=False)
    assert reply["unauthorized"] == [private["name"]]
    assert reply["subscribed"] == {str(other.id): [public["name"]]}
    assert join(other, public["name"], authorization_errors_fatal=False)["unauthorized"] == []
    check_error(ask(other, unique("channel"), private["name"]))


@pytest.mark.holds("subscribe.errors-listed", "subscribe.guests")
def test_a_guest_is_told_what_they_may_not_do_when_errors_are_not_fatal(guest: Speaker, member: Speaker) -> None:
    inside, public, new = make(member, principals=[member.id, guest.id]), make(member), unique("channel")
    names = [inside["name"], public["name"], new]
    for principals in ([], [guest.id], [member.id]):
        reply = join(guest, *names, principals=principals, authorization_errors_fatal=False)
        assert (reply["unauthorized"], reply["subscribed"], reply["already_subscribed"]) == (names, {}, {})
    assert not sees(member, {"name": new})
    assert guest.id not in members(member, public)
    for wrong in ({"principals": [999_999_999]}, {"invite_only": "x"}):
        check_error(ask(guest, public["name"], authorization_errors_fatal=False, **wrong))
    check_error(ask(guest, "", authorization_errors_fatal=False))


@pytest.mark.holds("subscribe.errors-listed", "subscribe.errors-rights")
@pytest.mark.parametrize(
    ("setting", "value", "permission"),
    [
        ("is_default_stream", True, None),
        ("message_retention_days", 30, None),
        ("message_retention_days", "unlimited", None),
        ("topics_policy", "disable_empty_topic", "can_set_topics_policy_group"),
        ("can_delete_any_message_group", None, "can_set_delete_message_policy_group"),
        ("can_delete_own_message_group", None, "can_set_delete_message_policy_group"),
    ],
)
def test_new_channels_whose_settings_take_a_right_are_listed(
    owner: Speaker, member: Speaker, setting: str, value: object, permission: str | None
) -> None:
    if value is None:
        value = anonymous([member.id], [])
    known, new = make(owner), [unique("channel"), unique("channel")]
    with reserved(owner, permission) if permission else nullcontext():
        assert ask(member, known["name"], *new, **{setting: value}).status_code == 400
        assert member.id not in members(owner, known)
        reply = join(member, new[0], known["name"], new[1], authorization_errors_fatal=False, **{setting: value})
        assert reply["unauthorized"] == new
        assert reply["subscribed"] == {str(member.id): [known["name"]]}
        assert not any(sees(owner, {"name": name}) for name in new)
        allowed = join(owner, new[0], authorization_errors_fatal=False, **{setting: value})
        assert (allowed["unauthorized"], allowed["subscribed"]) == ([], {str(owner.id): [new[0]]})


@pytest.mark.holds("subscribe.errors-rights")
def test_wrong_settings_are_errors_also_when_those_of_rights_are_not(owner: Speaker, member: Speaker) -> None:
    new = unique("channel")
    for wrong in (
        {"invite_only": True, "is_default_stream": True},
        {"can_delete_any_message_group": 999_999_999},
        {"topics_policy": "x"},
        {"message_retention_days": 0},
    ):
        for speaker in (owner, member):
            check_error(ask(speaker, new, authorization_errors_fatal=False, **wrong))
    assert not sees(owner, {"name": new})


@pytest.mark.holds("subscribe.rights", "subscribe.private-adders")
def test_the_channels_settings_say_who_comes_in(
    member: Speaker, other: Speaker, guest: Speaker, owner: Speaker
) -> None:
    opened = make(member, invite_only=True, can_subscribe_group=anonymous([other.id], []))
    assert join(other, opened["name"])["subscribed"] == {str(other.id): [opened["name"]]}
    adding = make(member, invite_only=True, can_add_subscribers_group=anonymous([other.id], []))
    assert join(other, adding["name"], principals=[guest.id])["subscribed"] == {str(guest.id): [adding["name"]]}
    assert members(member, adding) == sorted([member.id, guest.id])  # without being subscribed themselves
    guests = make(member, invite_only=True, can_subscribe_group=anonymous([guest.id], []))
    check_error(ask(guest, guests["name"]))


@pytest.mark.holds("subscribe.rights", "subscribe.errors-fatal", "subscribe.errors-listed")
def test_adding_others_needs_the_right(owner: Speaker, member: Speaker, other: Speaker, guest: Speaker) -> None:
    channel, own = make(owner), make(member)
    with reserved(owner, "can_add_subscribers_group"):
        check_error(ask(member, channel["name"], own["name"], principals=[other.id]))
        reply = join(member, channel["name"], own["name"], principals=[other.id], authorization_errors_fatal=False)
        assert reply["unauthorized"] == [channel["name"]]
        assert reply["subscribed"] == {str(other.id): [own["name"]]}  # whoever made a channel administers it
        join(member, channel["name"])
        join(owner, channel["name"], principals=[guest.id])
        adding = make(owner, can_add_subscribers_group=anonymous([member.id], []))
        join(member, adding["name"], principals=[other.id])
    assert members(owner, channel) == sorted([owner.id, member.id, guest.id])


@pytest.mark.holds("subscribe.rights", "subscribe.errors-fatal", "subscribe.errors-listed")
def test_making_channels_needs_the_right(owner: Speaker, member: Speaker) -> None:
    known, new = make(owner), unique("channel")
    for permission, kind in (("can_create_public_channel_group", False), ("can_create_private_channel_group", True)):
        with reserved(owner, permission):
            check_error(ask(member, known["name"], new, invite_only=kind))
            reply = join(member, known["name"], new, invite_only=kind, authorization_errors_fatal=False)
            assert reply["unauthorized"] == [new]
            assert {**reply["subscribed"], **reply["already_subscribed"]} == {str(member.id): [known["name"]]}
            assert not sees(owner, {"name": new})
            make(member, invite_only=not kind)  # of the other kind
    make(member, invite_only=True)


@pytest.mark.holds("subscribe.archived")
def test_subscriptions_in_archived_channels_cannot_be_modified(owner: Speaker, other: Speaker) -> None:
    channel = make(owner)
    owner.delete(f"streams/{channel['stream_id']}")
    check_error(ask(owner, channel["name"]))
    check_error(ask(other, channel["name"]))
    check_error(ask(owner, channel["name"], principals=[other.id]))
    reply = join(other, channel["name"], authorization_errors_fatal=False)
    assert (reply["unauthorized"], reply["subscribed"]) == ([channel["name"]], {})
    check_error(owner.request("DELETE", "users/me/subscriptions", subscriptions=[channel["name"]]))


def unread_in(reader: Speaker, channel: Json) -> list[int]:
    entries = [entry for entry in reader.unread()["streams"] if entry["stream_id"] == channel["stream_id"]]
    return [message for entry in entries for message in entry["unread_message_ids"]]


@pytest.mark.holds("subscribe.read")
def test_new_subscribers_have_everything_so_far_read(member: Speaker, other: Speaker) -> None:
    channel = make(member)
    member.send(channel["stream_id"], "before")
    join(other, channel["name"])
    assert unread_in(other, channel) == []
    later = member.send(channel["stream_id"], "after")
    assert unread_in(other, channel) == [later]


@pytest.mark.holds("subscribe.told")
def test_a_new_channel_is_told_to_those_who_see_it(
    member: Speaker, other: Speaker, owner: Speaker, guest: Speaker
) -> None:
    with listening(member) as own, listening(other) as others, listening(owner) as owners, listening(guest) as guests:
        public, private = make(member), make(member, invite_only=True)
        created = ["stream create", "subscription peer_add"]
        assert kinds(heard(others, public, private)) == created
        assert kinds(heard(owners, public, private)) == created * 2
        assert heard(guests, public, private) == []
        told = heard(own, public, private)
        assert kinds(told) == ["stream create", "subscription add", "subscription peer_add"] * 2
    assert told[0]["streams"] == [{**public, "subscriber_count": 0}]
    [added] = told[1]["subscriptions"]
    assert added.pop("subscribers") == [member.id]
    assert added == subscription(member, public)


@pytest.mark.holds("subscribe.told")
def test_whoever_is_added_hears_of_the_channel_first(member: Speaker, other: Speaker) -> None:
    channel = make(member, invite_only=True)
    with listening(other) as queue:
        join(member, channel["name"], principals=[other.id])
        told = heard(queue, channel)
    assert kinds(told) == ["stream create", "subscription add", "subscription peer_add"]
    assert told[1]["subscriptions"][0]["subscribers"] == sorted([member.id, other.id])


@pytest.mark.holds("subscribe.told")
def test_people_are_told_that_somebody_subscribed_them(member: Speaker, newcomer: Speaker, bot: Speaker) -> None:
    old = make(member)
    with newcomer.register() as queue:
        reply = join(member, old["name"], unique("channel"), principals=[newcomer.id, bot.id, member.id])
        assert reply["new_subscription_messages_sent"] is True
        told = [event["message"] for event in queue.so_far() if event["message"]["type"] == "private"]
    assert len(told) == 1
    assert old["name"] in told[0]["content"]
    with newcomer.register() as queue:
        reply = join(member, make(member)["name"], principals=[newcomer.id], send_new_subscription_messages=False)
        assert "new_subscription_messages_sent" not in reply
        assert queue.so_far() == []


@pytest.mark.holds("subscribe.announce", "subscribe.announce-private")
def test_a_new_channel_is_announced_unless_it_is_private(owner: Speaker, member: Speaker) -> None:
    place = make(owner)
    check_success(owner.request("PATCH", "realm", new_stream_announcements_stream_id=place["stream_id"]))
    try:
        made = make(member, announce=True)
        make(member, announce=True, invite_only=True)
        make(member)
        join(member, made["name"], announce=True)
    finally:
        check_success(owner.request("PATCH", "realm", new_stream_announcements_stream_id=-1))
    narrow = [{"operator": "channel", "operand": place["stream_id"]}]
    said: list[Json] = owner.window(before=10, narrow=narrow)["messages"]
    assert [message["subject"] for message in said] == ["new channels"]
    assert made["name"] in said[0]["content"]


@pytest.mark.holds("subscribe.unsubscribe")
def test_leaving_needs_no_right_and_says_who_was_not_there(member: Speaker, other: Speaker, guest: Speaker) -> None:
    channel = make(member, principals=[member.id, guest.id])
    assert leave(guest, channel["name"])["removed"] == [channel["name"]]
    reply = leave(other, channel["name"])
    assert (reply["removed"], reply["not_removed"]) == ([], [channel["name"]])
    assert leave(member, channel["name"].upper())["removed"] == [channel["name"]]


@pytest.mark.holds("subscribe.unsubscribe", "errors.stream-does-not-exist")
def test_a_channel_out_of_reach_does_not_exist_for_whoever_leaves_it(member: Speaker, other: Speaker) -> None:
    private, missing = make(member, invite_only=True)["name"], unique("channel")
    for name in (private, missing):
        reply = other.request("DELETE", "users/me/subscriptions", subscriptions=[name])
        assert name in check_error(reply, "STREAM_DOES_NOT_EXIST", stream=name)


@pytest.mark.holds("subscribe.unsubscribe")
def test_removing_others_needs_the_right(member: Speaker, other: Speaker, owner: Speaker, newcomer: Speaker) -> None:
    channel = make(newcomer, principals=[member.id, other.id, newcomer.id])
    reply = member.request(
        "DELETE", "users/me/subscriptions", subscriptions=[channel["name"]], principals=[other.id, member.id]
    )
    check_error(reply)
    assert leave(newcomer, channel["name"], principals=[other.id])["removed"] == [channel["name"]]
    both = leave(owner, channel["name"], principals=[member.id, other.id])
    assert (both["removed"], both["not_removed"]) == ([channel["name"]], [channel["name"]])
    removing = make(newcomer, principals=[other.id], can_remove_subscribers_group=anonymous([member.id], []))
    assert leave(member, removing["name"], principals=[other.id])["removed"] == [removing["name"]]


@pytest.mark.holds("subscribe.both")
def test_subscriptions_are_changed_in_one_call(member: Speaker) -> None:
    old, new = make(member), unique("channel")
    reply = check_success(member.request("PATCH", "users/me/subscriptions", add=[{"name": new}], delete=[old["name"]]))
    assert (reply["subscribed"], reply["removed"]) == ({str(member.id): [new]}, [old["name"]])
    check_error(member.request("PATCH", "users/me/subscriptions"))
    other_name = unique("channel")
    refused = member.request(
        "PATCH", "users/me/subscriptions", add=[{"name": other_name}], delete=[unique("no such channel")]
    )
    assert refused.status_code == 400
    assert not sees(member, {"name": other_name})  # all or nothing


@pytest.mark.holds("subscribe.errors-fatal", "subscribe.announce", "subscribe.settings")
@pytest.mark.parametrize("value", ["x", "1", "[]", '"true"'])
def test_switches_are_booleans(member: Speaker, value: str) -> None:
    for name in ("authorization_errors_fatal", "announce", "invite_only", "is_web_public", "is_default_stream"):
        assert name in check_error(ask(member, unique("channel"), **{name: value}))


@pytest.mark.holds("conventions.ignored-parameters")
def test_unknown_parameters_are_named(member: Speaker) -> None:
    assert join(member, unique("channel"), colour="blue")["ignored_parameters_unsupported"] == ["colour"]


@pytest.mark.holds("subscribe.list")
def test_channels_are_listed_by_filters(member: Speaker, other: Speaker, guest: Speaker, bot: Speaker) -> None:
    public, private = make(member, principals=[member.id, guest.id]), make(member, invite_only=True)

    def listed(speaker: Speaker, **filters: bool) -> set[str]:
        names = [channel["name"] for channel in speaker.get("streams", **filters)["streams"]]
        assert names == sorted(names, key=str.lower)
        return set(names) & {public["name"], private["name"]}

    both, none = {public["name"], private["name"]}, set[str]()
    assert listed(member) == listed(member, include_all=True) == both
    assert listed(member, include_public=False) == both
    assert listed(member, include_subscribed=False) == {public["name"]}
    assert listed(member, include_public=False, include_subscribed=False) == none
    assert listed(other) == listed(other, include_can_access_content=True) == {public["name"]}
    assert listed(guest) == listed(guest, include_subscribed=False, include_all=True) == {public["name"]}
    assert listed(guest, include_subscribed=False) == none


@pytest.mark.holds("subscribe.list")
def test_a_channel_is_found_by_id_and_name(member: Speaker, other: Speaker) -> None:
    public, private = make(member), make(member, invite_only=True)
    assert other.get(f"streams/{public['stream_id']}")["stream"] == public
    assert other.get("get_stream_id", stream=public["name"])["stream_id"] == public["stream_id"]
    for number in (private["stream_id"], 999_999_999):
        check_error(other.request("GET", f"streams/{number}"), "STREAM_DOES_NOT_EXIST", stream_id=number)
    for name in (private["name"], "no such channel"):
        check_error(other.request("GET", "get_stream_id", stream=name), "STREAM_DOES_NOT_EXIST", stream=name)


@pytest.mark.holds("subscribe.topics")
def test_topics_are_listed_newest_first(member: Speaker, other: Speaker, empty_topic: str) -> None:
    channel = make(member)
    number = channel["stream_id"]
    first, second, third = (member.send(number, topic) for topic in ("one", "two", "ONE"))
    topics = other.get(f"users/me/{number}/topics")["topics"]
    assert [(topic["name"].lower(), topic["max_id"]) for topic in topics] == [("one", third), ("two", second)]
    assert first < second
    empty = member.send(number, "")
    [named, *_] = other.get(f"users/me/{number}/topics")["topics"]
    assert named == {"name": empty_topic, "max_id": empty}
    [bare, *_] = other.get(f"users/me/{number}/topics", allow_empty_topic_name=True)["topics"]
    assert bare == {"name": "", "max_id": empty}


@pytest.mark.holds("subscribe.topics", "channel.history")
def test_where_the_history_is_protected_topics_are_those_received(member: Speaker, other: Speaker) -> None:
    protected = make(member, invite_only=True)
    shared = make(member, invite_only=True, history_public_to_subscribers=True)
    for channel in (protected, shared):
        member.send(channel["stream_id"], "before")
        join(member, channel["name"], principals=[other.id])
        member.send(channel["stream_id"], "after")

    def topics(channel: Json) -> list[str]:
        return [topic["name"] for topic in other.get(f"users/me/{channel['stream_id']}/topics")["topics"]]

    assert (topics(protected), topics(shared)) == (["after"], ["after", "before"])
