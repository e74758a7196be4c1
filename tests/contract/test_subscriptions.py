"""Per-user subscription properties as they begin and last (protocol/records.md#subscription)."""

import re

import pytest

from tests.contract.subscribing import find, heard, join, kinds, leave, listening, make, members, subscription
from tests.harness.talk import Speaker, check_error, unique

PERSONAL = {
    "is_muted": False,
    "in_home_view": True,
    "pin_to_top": False,
    "desktop_notifications": None,
    "audible_notifications": None,
    "push_notifications": None,
    "email_notifications": None,
    "wildcard_mentions_notify": None,
}


@pytest.mark.holds(
    "subscription.record",
    "subscription.is-muted",
    "subscription.in-home-view",
    "subscription.pin-to-top",
    "subscription.notifications",
    "subscription.color",
)
def test_a_subscription_is_the_channel_and_what_is_personal(member: Speaker) -> None:
    channel = make(member)
    own = subscription(member, channel)
    assert re.fullmatch("#[0-9a-f]{6}", own.pop("color"))
    assert own == channel | PERSONAL


@pytest.mark.holds("subscription.color-chosen")
def test_new_subscriptions_get_colours_that_are_not_in_use(newcomer: Speaker) -> None:
    names = [unique("channel") for _ in range(8)]
    join(newcomer, *names[:3])
    join(newcomer, *names[3:])
    own = newcomer.get("users/me/subscriptions")["subscriptions"]
    colors = [one["color"] for one in own]
    assert len(set(colors)) == len(colors)


@pytest.mark.holds("subscription.color", "subscription.color-chosen")
def test_a_colour_may_be_chosen(member: Speaker) -> None:
    name = unique("channel")
    wanted = [{"name": name, "color": "#ABCDEF"}]
    member.post("users/me/subscriptions", subscriptions=wanted)
    assert subscription(member, find(member, name))["color"] == "#abcdef"
    wrong = [{"name": unique("channel"), "color": "blue"}]
    check_error(member.request("POST", "users/me/subscriptions", subscriptions=wrong))


@pytest.mark.holds("subscription.restored")
def test_subscribing_again_restores_what_was_set(member: Speaker) -> None:
    channel = make(member)
    data = [
        {"stream_id": channel["stream_id"], "property": "color", "value": "#123456"},
        {"stream_id": channel["stream_id"], "property": "is_muted", "value": True},
        {"stream_id": channel["stream_id"], "property": "pin_to_top", "value": True},
        {"stream_id": channel["stream_id"], "property": "push_notifications", "value": False},
    ]
    member.post("users/me/subscriptions/properties", subscription_data=data)
    leave(member, channel["name"])
    with listening(member) as queue:
        join(member, channel["name"])
        [added] = [event for event in heard(queue, channel) if event["op"] == "add"]
    own = subscription(member, channel)
    assert (own["color"], own["is_muted"], own["pin_to_top"], own["push_notifications"]) == (
        "#123456",
        True,
        True,
        False,
    )
    [told] = added["subscriptions"]
    assert told.pop("subscribers") == [member.id]
    assert told == own


@pytest.mark.holds("subscription.inherited")
def test_clients_that_do_not_know_inherited_settings_get_what_is_inherited(newcomer: Speaker) -> None:
    first = make(newcomer)
    with listening(newcomer, client_capabilities=None, fetch_event_types=["subscription"]) as queue:
        second = make(newcomer)
        [own] = [one for one in queue.state["subscriptions"] if one["stream_id"] == first["stream_id"]]
        [told] = [event for event in heard(queue, second) if event["op"] == "add"]
    for record in (own, told["subscriptions"][0]):
        assert (record["desktop_notifications"], record["wildcard_mentions_notify"]) == (False, True)


@pytest.mark.holds("subscription.subscribers")
def test_subscribers_are_listed_when_asked_for(member: Speaker, other: Speaker) -> None:
    channel = make(member, principals=[member.id, other.id])
    assert "subscribers" not in subscription(member, channel)
    for asked in ("true", "partial"):
        assert subscription(member, channel, include_subscribers=asked)["subscribers"] == sorted([member.id, other.id])
    check_error(member.request("GET", "users/me/subscriptions", include_subscribers="some"))


@pytest.mark.holds("subscription.record")
def test_subscriptions_are_sorted_by_name(member: Speaker) -> None:
    names = [one["name"].lower() for one in member.get("users/me/subscriptions")["subscriptions"]]
    assert names == sorted(names)


@pytest.mark.holds("subscription.subscribers")
def test_the_subscribers_of_a_channel_are_known_to_those_who_see_it(
    member: Speaker, other: Speaker, owner: Speaker, guest: Speaker
) -> None:
    public, private = make(member), make(member, invite_only=True)
    assert members(other, public) == members(owner, private) == [member.id]
    for who in (other, guest):
        reply = who.request("GET", f"streams/{private['stream_id']}/members")
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=private["stream_id"])
    check_error(
        guest.request("GET", f"streams/{public['stream_id']}/members"),
        "STREAM_DOES_NOT_EXIST",
        stream_id=public["stream_id"],
    )
    status = f"users/{member.id}/subscriptions"
    assert other.get(f"{status}/{public['stream_id']}")["is_subscribed"] is True
    check_error(
        other.request("GET", f"{status}/{private['stream_id']}"),
        "STREAM_DOES_NOT_EXIST",
        stream_id=private["stream_id"],
    )
    shared = other.get(f"users/{member.id}/channels")["subscribed_channel_ids"]
    assert public["stream_id"] in shared
    assert private["stream_id"] not in shared


@pytest.mark.holds("subscription.peers")
def test_peers_hear_who_comes_and_goes(member: Speaker, other: Speaker, owner: Speaker, guest: Speaker) -> None:
    public, private = make(member), make(member, invite_only=True)
    with listening(owner) as owners, listening(guest) as guests, listening(other) as others:
        for channel in (public, private):
            join(member, channel["name"], principals=[other.id])
            leave(other, channel["name"])
        peers = ["subscription peer_add", "subscription peer_remove"]
        assert kinds(heard(owners, public, private)) == peers * 2
        assert heard(guests, public, private) == []
        told = heard(others, public, private)
    assert (
        kinds([event for event in told if event["op"] in ("add", "remove")])
        == [
            "subscription add",
            "subscription remove",
        ]
        * 2
    )
    assert kinds([event for event in told if event["type"] == "stream"]) == ["stream create", "stream delete"]
    assert [event["stream_ids"] for event in told if event["op"] == "delete"] == [[private["stream_id"]]]


@pytest.mark.holds("subscription.peers", "channel.seen-by")
def test_a_guest_comes_to_see_a_public_channel_and_loses_sight_of_it(
    member: Speaker, guest: Speaker, owner: Speaker
) -> None:
    channel = make(member)
    with listening(guest) as queue:
        join(owner, channel["name"], principals=[guest.id])
        leave(guest, channel["name"])
        told = kinds(heard(queue, channel))
    assert told == [
        "stream create",
        "subscription add",
        "subscription peer_add",
        "subscription remove",
        "stream delete",
    ]
