"""Reading without an account: web-public channels of organizations with public access."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tertulia.messaging.public_pages.cache import FRESH_SECONDS
from tests.harness.files import fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import Channel, Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Json, Speaker, check_error, check_success

PUBLIC = {"operator": "channels", "operand": "web-public"}


class Square(NamedTuple):
    """An organization with a channel that anybody may read."""

    realm: Realm
    nobody: Speaker
    open: Channel
    sent: int


@pytest.fixture(scope="module")
def web(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web process of a server that allows such channels."""
    web = Web(server, tmp_path_factory.mktemp("open"), web_public_streams_enabled="true")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def square(stage: Stage, realm: Realm, web: Web) -> Square:
    channel, closed = (stage.channel(realm.member, realm_id=realm.id) for _ in range(2))
    stage.sql("update channel set is_web_public = true where id = %s", channel.stream_id)
    stage.sql("update realm set settings = settings || '{\"enable_spectator_access\": true}' where id = %s", realm.id)
    sent = realm.member.send(channel.stream_id, "✔ topic", "Hello world")
    realm.member.send(closed.stream_id, "topic", "Hello world")
    return Square(realm, stage.nobody(url=web.url, host=realm.host), channel, sent)


def found(square: Square, *terms: Json) -> list[int]:
    window = square.nobody.window(before=99, narrow=list(terms))
    return [message["id"] for message in window["messages"]]


def test_anybody_reads_web_public_channels(square: Square) -> None:
    [message] = square.nobody.window("first_unread", 99, narrow=[PUBLIC])["messages"]
    assert (message["id"], message["flags"]) == (square.sent, ["read"])
    assert square.realm.member.email not in str(message)
    assert message["sender_email"].startswith(f"user{square.realm.member.id}@")


def test_narrows_that_ask_nothing_personal_are_allowed(square: Square) -> None:
    for operator, operand in (
        ("channel", square.open.name),
        ("topic", "✔ TOPIC"),
        ("sender", square.realm.member.id),
        ("search", "worlds"),
        ("id", square.sent),
        ("with", square.sent),
        ("near", "5"),
        ("is", "resolved"),
        ("in", "home"),
    ):
        assert found(square, PUBLIC, {"operator": operator, "operand": operand}) == [square.sent], operator
    assert found(square, PUBLIC, {"operator": "has", "operand": "link"}) == []


@pytest.mark.parametrize(
    "terms",
    [
        [],
        [["is", "starred"]],
        [{**PUBLIC, "negated": True}],
        [PUBLIC, ["is", "unread"]],
        [PUBLIC, {"operator": "dm", "operand": [1]}],
        [PUBLIC, {"operator": "mentions", "operand": 1}],
        [["channels", "public"]],
    ],
)
def test_everything_else_needs_an_account(square: Square, terms: list[object]) -> None:
    check_error(square.nobody.request("GET", "messages", anchor="newest", narrow=terms), "UNAUTHORIZED", 401)


def test_an_address_cannot_be_tried_out(square: Square) -> None:
    for email in (square.realm.member.email, "nobody@example.com"):
        narrow = [PUBLIC, {"operator": "sender", "operand": email}]
        reply = square.nobody.request("GET", "messages", anchor="newest", narrow=narrow)
        check_error(reply, "BAD_NARROW", desc=f"unknown user {email}")


def test_other_channels_are_not_there(square: Square, stage: Stage) -> None:
    other = stage.channel(square.realm.member, realm_id=square.realm.id)
    reply = square.nobody.request("GET", "messages", anchor="newest", narrow=[PUBLIC, ["channel", other.name]])
    check_error(reply, "BAD_NARROW", desc=f"unknown channel {other.name}")


def test_without_public_access_nobody_reads_without_an_account(square: Square, stage: Stage) -> None:
    stage.sql("update realm set settings = settings - 'enable_spectator_access' where id = %s", square.realm.id)
    check_error(square.nobody.request("GET", "messages", anchor="newest", narrow=[PUBLIC]), "UNAUTHORIZED", 401)


def test_a_server_that_does_not_allow_it_lets_nobody_in(square: Square, stage: Stage) -> None:
    """The organization's setting may have been made before the operator closed the server, or on one that is closed."""
    member, channel = square.realm.member, square.open.stream_id
    url = upload(member)
    member.send(channel, "files", f"[file]({url})")
    open_here, closed_here = square.nobody, stage.nobody(host=square.realm.host)
    for method, path, fields in (
        ("GET", "users", {}),
        ("GET", "users", {"user_ids": [member.id]}),
        ("GET", "messages", {"anchor": "newest", "narrow": [PUBLIC]}),
        ("GET", "messages", {"message_ids": [square.sent], "narrow": [PUBLIC]}),
        ("POST", "register", {"client_gravatar": False}),
        ("GET", f"users/me/{channel}/topics", {}),
    ):
        assert open_here.request(method, path, **fields).status_code == 200, path
        check_error(closed_here.request(method, path, **fields), "UNAUTHORIZED", 401)
    assert fetch(open_here, url).status_code == 200
    assert fetch(closed_here, url).status_code == 401
    for nobody, is_open in ((open_here, True), (closed_here, False)):
        assert nobody.get("server_settings")["realm_web_public_access_enabled"] is is_open
        for path in ("streams", f"streams/{channel}", f"messages/{square.sent}", "messages/matches_narrow", "users/me"):
            check_error(nobody.request("GET", path), "UNAUTHORIZED", 401)
    picture = f"/avatar/{member.id}"
    assert fetch(closed_here, picture).content == fetch(open_here, picture).content


def test_where_guests_do_not_see_everybody_visitors_do_not_either(square: Square, stage: Stage) -> None:
    """Who wrote to a channel that they are not in is nobody whom a guest of it knows, nor the whole world."""
    realm, groups = square.realm, square.realm.owner.get("user_groups")["user_groups"]
    picture, name = "ab" * 20, "Hidden Quince"
    stage.sql("update account set full_name = %s, avatar = %s where id = %s", name, picture, realm.moderator.id)
    from_outside = realm.moderator.send(square.open.stream_id, "✔ topic", "Hello from outside")
    topics = f"select id from topic where conversation_id = {square.open.stream_id}"
    page = f"/public/channels/{square.open.stream_id}/topics/{stage.sql(topics)[0][0]}"

    def shown() -> tuple[list[Json], str]:
        messages: list[Json] = square.nobody.window(before=9, narrow=[PUBLIC])["messages"]
        time.sleep(FRESH_SECONDS + 0.05)
        addresses = (page, f"{page}/feed.atom", f"/public/channels/{square.open.stream_id}/feed.atom")
        return messages, "".join(fetch(square.nobody, address).text for address in addresses)

    messages, pages = shown()
    assert [one["sender_full_name"] for one in messages] == ["Somebody New", name]
    assert (name in pages, picture in pages) == (True, True)
    members = {"new": next(group["id"] for group in groups if group["name"] == "role:members")}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=members))
    messages, pages = shown()
    assert [one["id"] for one in messages] == [square.sent, from_outside]
    assert [one["sender_full_name"] for one in messages] == ["Somebody New", "Unknown user"]
    of_guest = realm.guest.get(f"messages/{from_outside}")["message"]
    shown_of_sender = ("sender_full_name", "sender_email", "avatar_url")
    assert [messages[1][key] for key in shown_of_sender] == [of_guest[key] for key in shown_of_sender]
    assert ("Somebody New" in pages, "Unknown user" in pages) == (True, True)
    assert (name in pages, picture in pages) == (False, False)
    assert found(square, PUBLIC, {"operator": "sender", "operand": realm.member.id}) == [square.sent]
    narrow = [PUBLIC, {"operator": "sender", "operand": realm.moderator.id}]
    reply = square.nobody.request("GET", "messages", anchor="newest", narrow=narrow)
    check_error(reply, "BAD_NARROW", desc=f"unknown user {realm.moderator.id}")


def test_an_archived_channel_is_not_there_without_an_account(square: Square, stage: Stage) -> None:
    topics = f"users/me/{square.open.stream_id}/topics"
    assert square.nobody.get(topics)["topics"]
    stage.sql("update channel set is_archived = true where id = %s", square.open.stream_id)
    assert found(square, PUBLIC) == []
    assert found(square, PUBLIC, {"operator": "id", "operand": square.sent}) == []
    named = square.nobody.request("GET", "messages", anchor="newest", narrow=[PUBLIC, ["channel", square.open.name]])
    check_error(named, "BAD_NARROW", desc=f"unknown channel {square.open.name}")
    gone = {"stream_id": square.open.stream_id}
    check_error(square.nobody.request("GET", topics), "STREAM_DOES_NOT_EXIST", **gone)
    assert square.realm.member.message(square.sent)["id"] == square.sent


def test_anybody_gets_the_state_of_what_is_open_and_no_queue(square: Square) -> None:
    found = square.nobody.post("register", client_gravatar=False)
    assert found["queue_id"] is None
    assert "last_event_id" not in found
    assert (found["user_id"], found["email"], found["is_guest"], found["is_admin"]) == (0, "", True, False)
    assert [channel["stream_id"] for channel in found["streams"]] == [square.open.stream_id]
    assert [channel["stream_id"] for channel in found["never_subscribed"]] == [square.open.stream_id]
    for key in (
        "subscriptions",
        "unsubscribed",
        "drafts",
        "starred_messages",
        "user_topics",
        "alert_words",
        "realm_bots",
    ):
        assert found[key] == []
    assert found["unread_msgs"]["count"] == 0
    assert (found["presences"], found["user_status"], found["realm_domains"]) == ({}, {}, [])
    assert {user["user_id"] for user in found["realm_users"]} >= {speaker.id for speaker in square.realm.all}
    assert square.realm.member.email not in str(found)
    assert all(group["is_system_group"] for group in found["realm_user_groups"])
    assert found["realm_name"]


def test_visitors_do_not_learn_who_has_which_role_where_guests_do_not_see_everybody(square: Square) -> None:
    asked = {"client_gravatar": False, "fetch_event_types": ["realm_user_groups", "realm_user"]}
    everybody = {speaker.id for speaker in square.realm.all}
    found = square.nobody.post("register", **asked)["realm_user_groups"]
    assert {user for group in found for user in group["members"]} >= everybody
    [members] = [group["id"] for group in found if group["name"] == "role:members"]
    change = {"can_access_all_users_group": {"new": members}}
    check_success(square.realm.owner.request("PATCH", "realm", **change))
    state = square.nobody.post("register", **asked)
    assert {user["user_id"] for user in state["realm_users"]} & everybody == {square.realm.member.id}
    assert [group["members"] for group in state["realm_user_groups"]] == [[]] * len(found)


def test_nobody_may_not_ask_for_what_is_personal(square: Square) -> None:
    for fields in ({"client_gravatar": True}, {"include_subscribers": "true"}, {"include_subscribers": "partial"}):
        [name] = fields
        assert name in check_error(square.nobody.request("POST", "register", **fields))


def test_nobody_registers_in_an_organization_that_is_closed(square: Square, stage: Stage, web: Web) -> None:
    sql = "update realm set settings = settings - 'enable_spectator_access' where id = %s"
    stage.sql(sql, square.realm.id)
    assert square.nobody.request("POST", "register", client_gravatar=False).status_code == 401


ASKED_BY_THE_CLIENT = ["realm", "realm_emoji", "realm_playgrounds", "subscription", "user_settings"]
"""What the web client of a visitor asks for (web/src/data/visitor.ts)."""


def test_the_state_that_visitors_ask_for_names_nobody_and_no_other_channel(square: Square, stage: Stage) -> None:
    secret = stage.channel(square.realm.member, realm_id=square.realm.id, invite_only=True)
    gone = stage.channel(square.realm.member, realm_id=square.realm.id)
    stage.sql("update channel set is_web_public = true, is_archived = true where id = %s", gone.stream_id)
    found = square.nobody.post("register", client_gravatar=False, fetch_event_types=ASKED_BY_THE_CLIENT)
    assert [channel["name"] for channel in found["never_subscribed"]] == [square.open.name]
    told = str(found)
    for speaker in square.realm.all:
        assert speaker.email not in told
    for name in (secret.name, gone.name):
        assert name not in told
    assert not {"realm_users", "presences", "user_status", "realm_user_groups"} & found.keys()


def test_what_is_new_after_a_message_is_found_and_what_was_deleted_is_gone(square: Square) -> None:
    narrow = [PUBLIC, {"operator": "channel", "operand": square.open.stream_id}]

    def since() -> list[int]:
        window = square.nobody.window(square.sent, after=100, include_anchor=False, narrow=narrow)
        assert window["found_newest"]
        return [message["id"] for message in window["messages"]]

    assert since() == []
    sent = square.realm.member.send(square.open.stream_id, "elsewhere", "One more")
    assert since() == [sent]
    check_success(square.realm.owner.request("DELETE", f"messages/{sent}"))
    assert since() == []


def test_a_reaction_tells_visitors_no_name(square: Square) -> None:
    check_success(square.realm.owner.request("POST", f"messages/{square.sent}/reactions", emoji_name="tada"))
    [message] = square.nobody.window(before=9, narrow=[PUBLIC])["messages"]
    assert [reaction["emoji_name"] for reaction in message["reactions"]] == ["tada"]
    assert square.realm.owner.email not in str(message)
    assert all("user" not in reaction and "full_name" not in reaction for reaction in message["reactions"])


def test_access_is_said_to_be_public_where_there_is_something_to_read(square: Square, stage: Stage) -> None:
    def is_public() -> bool:
        return bool(square.nobody.get("server_settings")["realm_web_public_access_enabled"])

    assert is_public()
    stage.sql("update channel set is_archived = true where id = %s", square.open.stream_id)
    assert not is_public()
    stage.sql("update channel set is_archived = false, is_web_public = false where id = %s", square.open.stream_id)
    assert not is_public()
