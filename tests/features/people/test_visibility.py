"""What is out of reach looks like what does not exist, in replies and in events."""

import httpx
import pytest

from tertulia.kernel.auth import Role
from tests.harness.server import Channel, Server
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_error, message_ids


@pytest.fixture
def inside(stage: Stage) -> Speaker:
    return stage.speaker()


def everything(speaker: Speaker) -> Queue:
    """A queue of all types with all state, as wide as the speaker may have it."""
    wide = None if speaker.user.role == Role.GUEST else True
    return Queue(speaker, include_subscribers="true", all_public_streams=wide)


def check_out_of_reach(speaker: Speaker, channel: Channel) -> None:
    """No reply says more about the channel than about one that does not exist."""
    for named, key in ((channel.stream_id, "stream_id"), (channel.name, "stream")):
        fields = {"type": "channel", "to": named, "topic": "t", "content": "x"}
        extra: Json = {key: named}
        check_error(speaker.request("POST", "messages", **fields), "STREAM_DOES_NOT_EXIST", **extra)
        narrow = [{"operator": "channel", "operand": named}]
        reply = speaker.request("GET", "messages", anchor="newest", narrow=narrow)
        check_error(reply, "BAD_NARROW", desc=f"unknown channel {named}")
    check_error(
        speaker.request("DELETE", "users/me/subscriptions", subscriptions=[channel.name]),
        "STREAM_DOES_NOT_EXIST",
        stream=channel.name,
    )


def mentions(texts: list[Json], channel: Channel) -> bool:
    """Whether the channel appears anywhere in there."""
    return channel.name in str(texts)


def test_a_private_channel_does_not_exist_for_members_outside(stage: Stage, inside: Speaker) -> None:
    outside = stage.speaker()
    channel = stage.channel(inside, invite_only=True)
    sent = inside.send(channel.stream_id, "topic")
    check_out_of_reach(outside, channel)
    with everything(outside) as queue:
        assert not mentions([queue.state], channel)
    assert outside.window(sent, 50, 50)["messages"] == []


def test_nothing_about_a_private_channel_is_heard_outside(stage: Stage, inside: Speaker) -> None:
    outside, guest, joining = stage.speaker(), stage.speaker(Role.GUEST), stage.speaker()
    with everything(outside) as queue, everything(guest) as guests:
        channel = stage.channel(inside, invite_only=True)
        sent = inside.send(channel.stream_id, "topic")
        stage.add(channel, joining)
        inside.post("messages/flags", messages=[sent], op="add", flag="read")
        stage.remove(channel, joining)
        for heard in (queue.so_far(), guests.so_far()):
            assert not mentions(heard, channel)
            assert not [event for event in heard if channel.stream_id in event.get("stream_ids", [])]


def test_a_public_channel_does_not_exist_for_guests_outside(stage: Stage, inside: Speaker) -> None:
    guest = stage.speaker(Role.GUEST)
    with everything(guest) as queue:
        channel = stage.channel(inside)
        sent = inside.send(channel.stream_id, "topic")
        check_out_of_reach(guest, channel)
        heard = queue.so_far()
    assert not mentions(heard, channel)
    assert sent not in message_ids(heard)
    with everything(guest) as queue:
        assert not mentions([queue.state], channel)


def test_a_guest_sees_the_channels_they_are_in(stage: Stage, inside: Speaker) -> None:
    guest = stage.speaker(Role.GUEST)
    with everything(guest) as queue:
        channel = stage.channel(inside, guest)
        sent = inside.send(channel.stream_id, "topic")
        heard = queue.so_far()
    assert message_ids(heard) == [sent]
    assert [event["op"] for event in heard if event["type"] == "subscription"] == ["add", "peer_add"]
    with everything(guest) as queue:
        assert [each["name"] for each in queue.state["subscriptions"]] == [channel.name]


def test_a_removed_member_sees_and_hears_nothing_more(stage: Stage, inside: Speaker) -> None:
    removed = stage.speaker()
    channel = stage.channel(inside, removed, invite_only=True)
    before = inside.send(channel.stream_id, "topic")
    with everything(removed) as queue:
        stage.remove(channel, removed)
        after = inside.send(channel.stream_id, "topic")
        heard = queue.so_far()
    assert [event["op"] for event in heard if event["type"] == "subscription"] == ["remove"]
    assert message_ids(heard) == []
    check_out_of_reach(removed, channel)
    ids = [message["id"] for message in removed.window(after, 50, 50)["messages"]]
    assert not {before, after} & set(ids)
    with everything(removed) as queue:
        assert not mentions([queue.state], channel)


def test_a_removed_member_with_a_waiting_poll_hears_of_it(stage: Stage, inside: Speaker) -> None:
    removed = stage.speaker()
    channel = stage.channel(inside, removed, invite_only=True)
    with Queue(removed, event_types=["subscription"], fetch_event_types=[]) as queue:
        poll = queue.later()
        stage.remove(channel, removed)
        [event] = poll.result(10).json()["events"]
    gone = [{"stream_id": channel.stream_id, "name": channel.name}]
    assert (event["op"], event["subscriptions"]) == ("remove", gone)


def test_history_before_joining_a_private_channel_stays_hidden(stage: Stage, inside: Speaker) -> None:
    late = stage.speaker()
    channel = stage.channel(inside, invite_only=True)
    before = inside.send(channel.stream_id, "topic")
    stage.add(channel, late)
    after = inside.send(channel.stream_id, "topic")
    for narrow in ([["channel", channel.name]], [["channel", channel.name], ["topic", "topic"]], []):
        window = late.window(before, 50, 50, narrow=narrow)
        assert [message["id"] for message in window["messages"]] == [after]
        assert window["found_anchor"] is False
    check_error(late.request("POST", "messages/flags", messages=[before], op="remove", flag="read"))
    assert late.unread()["count"] == 1


def test_history_while_away_from_a_private_channel_stays_hidden(stage: Stage, inside: Speaker) -> None:
    away = stage.speaker()
    channel = stage.channel(inside, away, invite_only=True)
    first = inside.send(channel.stream_id, "topic")
    stage.remove(channel, away)
    inside.send(channel.stream_id, "topic")
    stage.add(channel, away)
    last = inside.send(channel.stream_id, "topic")
    window = away.window(before=50, narrow=[["channel", channel.name]])
    assert [message["id"] for message in window["messages"]] == [first, last]


def test_a_private_channel_name_can_not_be_taken_by_those_outside(stage: Stage, inside: Speaker) -> None:
    channel = stage.channel(inside, invite_only=True)
    wanted = [{"name": channel.name.upper()}]
    check_error(stage.speaker().request("POST", "users/me/subscriptions", subscriptions=wanted))


# Other organizations


class Elsewhere:
    """Another organization on the same server, with somebody in it."""

    def __init__(self, stage: Stage) -> None:
        self.realm_id, self.subdomain = stage.realm()
        self.user = stage.user(Role.OWNER, realm_id=self.realm_id)
        port = httpx.URL(stage.server.url).port
        self.host = f"{self.subdomain}.localhost:{port}"
        self.speaker = stage.speaker(self.user, host=self.host)
        self.channel = stage.channel(self.speaker, realm_id=self.realm_id)


@pytest.fixture
def elsewhere(stage: Stage) -> Elsewhere:
    return Elsewhere(stage)


def test_an_organization_is_found_by_its_host(stage: Stage, elsewhere: Elsewhere, server: Server) -> None:
    settings = elsewhere.speaker.get("server_settings")
    assert (settings["realm_name"], settings["realm_url"]) == ("Elsewhere", f"http://{elsewhere.host}")
    assert elsewhere.speaker.get("users/me")["user_id"] == elsewhere.user.user_id


def test_a_key_works_at_its_own_organization_only(stage: Stage, elsewhere: Elsewhere, inside: Speaker) -> None:
    for user, host in ((elsewhere.user, None), (inside.user, elsewhere.host), (inside.user, "nowhere.localhost")):
        check_error(stage.speaker(user, host=host).request("GET", "users/me"), "UNAUTHORIZED", 401)


def test_a_password_works_at_its_own_organization_only(stage: Stage, elsewhere: Elsewhere, server: Server) -> None:
    user = server.members[0]
    reply = elsewhere.speaker.request("POST", "fetch_api_key", username=user.email, password=user.password)
    check_error(reply, "AUTHENTICATION_FAILED", 401)


def test_channels_and_people_of_another_organization_do_not_exist(
    stage: Stage, elsewhere: Elsewhere, inside: Speaker
) -> None:
    theirs, ours = elsewhere.channel, stage.channel(inside)
    check_out_of_reach(inside, theirs)
    check_out_of_reach(elsewhere.speaker, ours)
    for speaker, stranger in ((inside, elsewhere.user), (elsewhere.speaker, inside.user)):
        for to in ([stranger.user_id], [stranger.email], [stranger.user_id, speaker.id]):
            check_error(speaker.request("POST", "messages", type="direct", to=to, content="x"))


def test_names_are_free_in_each_organization(stage: Stage, elsewhere: Elsewhere, inside: Speaker) -> None:
    ours = stage.channel(inside)
    elsewhere.speaker.post("users/me/subscriptions", subscriptions=[{"name": ours.name}])
    sent = elsewhere.speaker.send(ours.name, "topic")
    assert elsewhere.speaker.message(sent)["stream_id"] != ours.stream_id
    assert inside.window(before=5, narrow=[["channel", ours.name]])["messages"] == []


def test_messages_and_events_of_another_organization_are_not_seen(
    stage: Stage, elsewhere: Elsewhere, inside: Speaker
) -> None:
    with everything(inside) as ours, everything(elsewhere.speaker) as theirs:
        assert not mentions([ours.state], elsewhere.channel)
        assert inside.email not in str(theirs.state["realm_users"])
        sent = elsewhere.speaker.send(elsewhere.channel.stream_id, "topic")
        own = stage.channel(inside)
        said = inside.send(own.stream_id, "topic")
        assert message_ids(ours.so_far()) == [said]
        assert message_ids(theirs.so_far()) == [sent]
    assert inside.window(sent)["messages"] == []
    inside.post("messages/flags", messages=[sent], op="add", flag="read")
    assert elsewhere.speaker.message(sent)["flags"] == []


def test_a_queue_of_another_organization_is_an_unknown_one(elsewhere: Elsewhere, inside: Speaker) -> None:
    with elsewhere.speaker.register() as queue:
        check_error(queue.request(inside), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


def test_two_organizations_count_their_own_events(elsewhere: Elsewhere, inside: Speaker) -> None:
    with elsewhere.speaker.register() as queue:
        for _ in range(3):
            inside.send([inside.id])
        sent = elsewhere.speaker.send([elsewhere.user.user_id])
        assert message_ids(queue.until_message(sent)) == [sent]
