"""POST /users/me/subscriptions/properties (protocol/channels.md#subscription-properties)."""

from typing import Any

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

PATH = "users/me/subscriptions/properties"
NOTIFICATIONS = (
    *("desktop_notifications", "audible_notifications", "push_notifications", "email_notifications"),
    "wildcard_mentions_notify",
)
SWITCHES = ("is_muted", "in_home_view", "pin_to_top", *NOTIFICATIONS)
CAPABILITIES = {"notification_settings_null": True}


@pytest.fixture
def room(member: Speaker) -> Channel:
    """A channel of the test's own."""
    return make(member)


def make(speaker: Speaker) -> Channel:
    name = unique("properties")
    speaker.post("users/me/subscriptions", subscriptions=[{"name": name}])
    [found] = [own for own in subscriptions(speaker)["subscriptions"] if own["name"] == name]
    return Channel(found["stream_id"], name)


def subscriptions(speaker: Speaker) -> Json:
    asked = {"event_types": [], "fetch_event_types": ["subscription"], "client_capabilities": CAPABILITIES}
    with Queue(speaker, **asked) as queue:
        return queue.state


def own(speaker: Speaker, channel: Channel) -> Json:
    found: Json
    [found] = [each for each in subscriptions(speaker)["subscriptions"] if each["stream_id"] == channel.stream_id]
    return found


def wish(channel: Channel | int, property: str, value: object) -> Json:
    return {
        "stream_id": channel if isinstance(channel, int) else channel.stream_id,
        "property": property,
        "value": value,
    }


def set_all(speaker: Speaker, *wishes: Json) -> None:
    reply = speaker.post(PATH, subscription_data=list(wishes))
    assert set(reply) == {"result", "msg"}


def refused(speaker: Speaker, data: object) -> str:
    return check_error(speaker.request("POST", PATH, subscription_data=data))


def listening(speaker: Speaker, *, knows_null: bool = True) -> Queue:
    capabilities = {"notification_settings_null": knows_null}
    types = ["subscription", "message"]
    return Queue(speaker, event_types=types, fetch_event_types=[], client_capabilities=capabilities)


def heard(queue: Queue) -> list[tuple[Any, ...]]:
    found = [event for event in queue.so_far() if event["type"] == "subscription"]
    assert all(set(event) == {"id", "type", "op", "stream_id", "property", "value"} for event in found)
    return [(event["op"], event["stream_id"], event["property"], event["value"]) for event in found]


@pytest.mark.holds(
    "subscription-properties.property",
    "subscription-properties.value",
    "subscription-properties.answer",
    "events.subscription-update",
    "subscription.is-muted",
    "subscription.pin-to-top",
    "subscription.notifications",
)
@pytest.mark.parametrize("property", SWITCHES)
def test_each_switch_is_set_and_told(member: Speaker, room: Channel, property: str) -> None:
    muting = property in ("is_muted", "in_home_view")
    for value in (True, False):
        with listening(member) as queue:
            set_all(member, wish(room, property, value))
            assert own(member, room)[property] is value
            if not muting:
                assert heard(queue) == [("update", room.stream_id, property, value)]


@pytest.mark.holds("subscription-properties.two-events", "events.subscription-update", "subscription.in-home-view")
@pytest.mark.parametrize("property", ["is_muted", "in_home_view"])
@pytest.mark.parametrize("value", [True, False])
def test_muting_emits_two_events_one_per_property(member: Speaker, room: Channel, property: str, value: bool) -> None:
    is_muted = value if property == "is_muted" else not value
    with listening(member) as queue:
        for _ in range(2):  # the second time too, although nothing changes
            set_all(member, wish(room, property, value))
            found = own(member, room)
            assert (found["is_muted"], found["in_home_view"]) == (is_muted, not is_muted)
        both = [
            ("update", room.stream_id, "in_home_view", not is_muted),
            ("update", room.stream_id, "is_muted", is_muted),
        ]
        assert heard(queue) == both * 2


@pytest.mark.holds("subscription-properties.value", "subscription.color")
@pytest.mark.parametrize(("sent", "stored"), [("#A1b2C3", "#a1b2c3"), ("#fa0", "#ffaa00")])
def test_a_colour_is_a_hex_string(member: Speaker, room: Channel, sent: str, stored: str) -> None:
    with listening(member) as queue:
        set_all(member, wish(room, "color", sent))
        assert own(member, room)["color"] == stored
        assert heard(queue) == [("update", room.stream_id, "color", stored)]


@pytest.mark.holds("subscription-properties.value")
@pytest.mark.parametrize("value", ["red", "ff0000", "#ff00", "#ff00000", "#gggggg", "", 5, True, None, ["#ff0000"]])
def test_anything_else_is_no_colour(member: Speaker, room: Channel, value: object) -> None:
    assert "color" in refused(member, [wish(room, "color", value)])


@pytest.mark.holds("subscription-properties.value")
@pytest.mark.parametrize("property", SWITCHES)
@pytest.mark.parametrize("value", ["true", "", 1, 0, {}, []])
def test_a_switch_is_a_boolean(member: Speaker, room: Channel, property: str, value: object) -> None:
    assert property in refused(member, [wish(room, property, value)])


@pytest.mark.holds("subscription-properties.inherit", "subscription.inherited")
@pytest.mark.parametrize("property", NOTIFICATIONS)
def test_notification_settings_start_inherited_and_can_be_again(member: Speaker, room: Channel, property: str) -> None:
    assert own(member, room)[property] is None
    set_all(member, wish(room, property, False))
    assert own(member, room)[property] is False
    inherited = property == "wildcard_mentions_notify"  # the other four are off in a new account
    with listening(member) as knowing, listening(member, knows_null=False) as other:
        path = f"users/me/subscriptions/{room.stream_id}"
        check_success(member.request("PATCH", path, property=property, value="null"))
        assert own(member, room)[property] is None
        assert heard(knowing) == [("update", room.stream_id, property, None)]
        assert heard(other) == [("update", room.stream_id, property, inherited)]


@pytest.mark.holds("subscription-properties.value", "subscription-properties.inherit")
@pytest.mark.parametrize("property", SWITCHES)
def test_null_is_no_boolean(member: Speaker, room: Channel, property: str) -> None:
    set_all(member, wish(room, property, True))
    assert property in refused(member, [wish(room, property, None)])
    assert own(member, room)[property] is True


@pytest.mark.holds("subscription-properties.inherit")
@pytest.mark.parametrize("property", ["is_muted", "in_home_view", "pin_to_top"])
def test_only_notification_settings_are_inherited(member: Speaker, room: Channel, property: str) -> None:
    path = f"users/me/subscriptions/{room.stream_id}"
    assert property in check_error(member.request("PATCH", path, property=property, value="null"))


@pytest.mark.holds("subscription-properties.data")
def test_many_are_set_in_their_order(member: Speaker, room: Channel) -> None:
    second = make(member)
    wishes = [
        wish(room, "color", "#fedcba"),
        wish(second, "color", "#123456"),
        wish(room, "pin_to_top", False),
        wish(second, "push_notifications", True),
    ]
    with listening(member) as queue:
        set_all(member, *wishes)
        assert heard(queue) == [("update", each["stream_id"], each["property"], each["value"]) for each in wishes]
    assert own(member, room)["pin_to_top"] is False
    assert (own(member, second)["color"], own(member, second)["push_notifications"]) == ("#123456", True)


@pytest.mark.holds("subscription-properties.last")
def test_of_several_values_for_one_property_the_last_one_counts_and_is_told(member: Speaker, room: Channel) -> None:
    second = make(member)
    wishes = [
        *(wish(room, "color", f"#{number:06x}") for number in range(100)),
        wish(room, "is_muted", True),
        wish(second, "color", "#123456"),
        wish(room, "color", "#abcdef"),
        wish(room, "in_home_view", True),
    ]
    with listening(member) as queue:
        set_all(member, *wishes)
        assert heard(queue) == [
            ("update", second.stream_id, "color", "#123456"),
            ("update", room.stream_id, "color", "#abcdef"),
            ("update", room.stream_id, "in_home_view", True),
            ("update", room.stream_id, "is_muted", False),
        ]
    assert (own(member, room)["color"], own(member, room)["is_muted"]) == ("#abcdef", False)


@pytest.mark.holds("subscription-properties.last")
def test_a_value_that_is_replaced_in_the_same_request_must_be_right_too(member: Speaker, room: Channel) -> None:
    assert "color" in refused(member, [wish(room, "color", "red"), wish(room, "color", "#abcdef")])


@pytest.mark.holds("subscription-properties.last")
def test_more_values_than_a_request_has_are_refused(member: Speaker, room: Channel) -> None:
    assert "subscription_data" in refused(member, [wish(room, "pin_to_top", True)] * 1001)


@pytest.mark.holds("subscription-properties.whole")
def test_all_or_nothing(member: Speaker, room: Channel) -> None:
    before = own(member, room)
    with listening(member) as queue:
        refused(member, [wish(room, "pin_to_top", True), wish(room, "bad", True)])
        unknown = [wish(room, "pin_to_top", True), wish(999_999_999, "pin_to_top", True)]
        check_error(
            member.request("POST", PATH, subscription_data=unknown), "STREAM_DOES_NOT_EXIST", stream_id=999_999_999
        )
        assert heard(queue) == []
    assert own(member, room) == before


@pytest.mark.holds("subscription-properties.unknown", "subscription-properties.property")
def test_an_unknown_property_is_named(member: Speaker, room: Channel) -> None:
    assert "subscribers" in refused(member, [wish(room, "subscribers", True)])


@pytest.mark.holds("subscription-properties.unknown", "subscription-properties.stream-id")
def test_a_channel_one_is_not_subscribed_to_is_refused(member: Speaker, other: Speaker, private: Channel) -> None:
    public = make(other)
    assert str(public.stream_id) in refused(member, [wish(public, "pin_to_top", True)])
    for hidden in (private.stream_id, 999_999_999):
        reply = member.request("POST", PATH, subscription_data=[wish(hidden, "pin_to_top", True)])
        assert str(hidden) in check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=hidden)


@pytest.mark.holds("subscription-properties.data")
@pytest.mark.parametrize("data", ["", "x", "{}", "1", '"a"', "[1]", "[[]]", "[{}]", '[{"stream_id":1}]', "null"])
def test_the_data_is_a_list_of_objects(member: Speaker, data: str) -> None:
    assert "subscription_data" in refused(member, data)


@pytest.mark.holds(
    "subscription-properties.data",
    "subscription-properties.stream-id",
    "subscription-properties.property",
    "subscription-properties.value",
)
def test_the_data_is_required_and_every_key_of_an_object(member: Speaker, room: Channel) -> None:
    assert "subscription_data" in check_error(member.request("POST", PATH))
    whole = wish(room, "pin_to_top", True)
    for missing in whole:
        refused(member, [{key: value for key, value in whole.items() if key != missing}])
    refused(member, [whole | {"stream_id": str(room.stream_id)}])


@pytest.mark.holds("subscription-properties.data")
def test_an_empty_list_changes_nothing(member: Speaker) -> None:
    set_all(member)


@pytest.mark.holds("subscription-properties.answer", "conventions.ignored-parameters")
def test_unknown_parameters_are_named(member: Speaker, room: Channel) -> None:
    data = [wish(room, "pin_to_top", True)]
    assert member.post(PATH, subscription_data=data, colour="x")["ignored_parameters_unsupported"] == ["colour"]


@pytest.mark.holds("subscription.restored")
def test_subscribing_again_restores_what_was_set(member: Speaker, other: Speaker, room: Channel) -> None:
    other.post("users/me/subscriptions", subscriptions=[{"name": room.name}])
    set_all(
        member,
        wish(room, "color", "#010203"),
        wish(room, "is_muted", True),
        wish(room, "pin_to_top", True),
        *(wish(room, property, True) for property in NOTIFICATIONS),
    )
    before = own(member, room)
    member.delete("users/me/subscriptions", subscriptions=[room.name])
    [left] = [each for each in subscriptions(member)["unsubscribed"] if each["stream_id"] == room.stream_id]
    assert left["color"] == "#010203"
    refused(member, [wish(room, "pin_to_top", False)])
    member.post("users/me/subscriptions", subscriptions=[{"name": room.name}])
    assert own(member, room) == before


@pytest.mark.holds("events.subscription-update")
def test_nobody_else_hears_of_it_or_is_changed(member: Speaker, other: Speaker, room: Channel) -> None:
    other.post("users/me/subscriptions", subscriptions=[{"name": room.name}])
    before = own(other, room)
    with listening(other) as queue:
        set_all(member, wish(room, "color", "#0a0b0c"), wish(room, "is_muted", True))
        assert heard(queue) == []
    assert own(other, room) == before


@pytest.mark.holds("subscription.is-muted")
def test_a_muted_channel_does_not_count_as_unread(member: Speaker, other: Speaker, room: Channel) -> None:
    other.post("users/me/subscriptions", subscriptions=[{"name": room.name}])
    before = member.unread()["count"]
    other.send(room.stream_id, "topic")
    assert member.unread()["count"] == before + 1
    set_all(member, wish(room, "is_muted", True))
    assert member.unread()["count"] == before
    set_all(member, wish(room, "in_home_view", True))
    assert member.unread()["count"] == before + 1


@pytest.mark.holds("subscription-properties.one")
@pytest.mark.parametrize(
    ("property", "value", "stored"),
    [("color", "#0f0f0f", "#0f0f0f"), ("color", '"#0f0f0e"', "#0f0f0e"), ("is_muted", "true", True)],
)
def test_one_property_of_one_channel(member: Speaker, room: Channel, property: str, value: str, stored: object) -> None:
    path = f"users/me/subscriptions/{room.stream_id}"
    check_success(member.request("PATCH", path, property=property, value=value))
    assert own(member, room)[property] == stored


@pytest.mark.holds("subscription-properties.one", "subscription-properties.inherit")
def test_one_property_can_be_inherited_again_and_must_be_right(member: Speaker, room: Channel) -> None:
    path = f"users/me/subscriptions/{room.stream_id}"
    for value, stored in (("false", False), ("null", None)):
        check_success(member.request("PATCH", path, property="push_notifications", value=value))
        assert own(member, room)["push_notifications"] is stored
    for wrong in ({"property": "is_muted"}, {"value": "true"}, {"property": "is_muted", "value": "maybe"}):
        check_error(member.request("PATCH", path, **wrong))
    reply = member.request("PATCH", "users/me/subscriptions/999999999", property="is_muted", value="true")
    check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=999_999_999)
