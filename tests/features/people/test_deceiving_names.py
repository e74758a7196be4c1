"""Names that deceive whoever reads them are refused, wherever somebody gives one; names that were there before stay."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.contract.subscribing import ask
from tests.harness.realm import Realm
from tests.harness.talk import check_error, check_success, unique

Give = Callable[[Realm, str], httpx.Response]
PASSWORD = "a long and quite good password 77"
PERSIAN, FAMILY = "علی‌رضا", "👩‍👩‍👧‍👦"


def _message(realm: Realm, name: str) -> httpx.Response:
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    return realm.member.request("POST", "messages", type="channel", to=channel.stream_id, topic=name, content="x")


def _renamed_topic(realm: Realm, name: str) -> httpx.Response:
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    return realm.member.request("PATCH", f"messages/{realm.member.send(channel.stream_id, 'tea')}", topic=name)


def _renamed_channel(realm: Realm, name: str) -> httpx.Response:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    return realm.owner.request("PATCH", f"streams/{channel.stream_id}", new_name=name)


def _person(realm: Realm, name: str) -> httpx.Response:
    email = f"{unique('u').replace(' ', '')}@example.com"
    return realm.owner.request("POST", "users", email=email, password=PASSWORD, full_name=name)


def _bot(realm: Realm, name: str) -> httpx.Response:
    short = unique("b").replace(" ", "")
    return realm.member.request("POST", "bots", full_name=name, short_name=short)


def _own_bot(realm: Realm, **fields: Any) -> httpx.Response:
    return realm.member.request("PATCH", f"bots/{realm.bot(realm.member).id}", **fields)


GIVING: dict[str, Give] = {
    "one's own name": lambda realm, name: realm.member.request("PATCH", "settings", full_name=name),
    "somebody's name": lambda realm, name: realm.owner.request("PATCH", f"users/{realm.member.id}", full_name=name),
    "a new account": _person,
    "a new bot": _bot,
    "a bot's new name": lambda realm, name: _own_bot(realm, full_name=name),
    "a new channel": lambda realm, name: ask(realm.member, name),
    "a channel's new name": _renamed_channel,
    "a new group": lambda realm, name: realm.owner.request(
        "POST", "user_groups/create", name=name, description="", members=[]
    ),
    "a topic": _message,
    "a topic's new name": _renamed_topic,
    "a folder": lambda realm, name: realm.owner.request("POST", "channel_folders/create", name=name, description=""),
    "the organization's name": lambda realm, name: realm.owner.request("PATCH", "realm", name=name),
    "a profile field": lambda realm, name: realm.owner.request("POST", "realm/profile_fields", name=name, field_type=1),
}
OF_PEOPLE = ["one's own name", "somebody's name", "a new account", "a new bot", "a bot's new name"]


@pytest.mark.parametrize("kind", GIVING)
def test_unseen_and_turning_characters_are_refused_in_every_name(realm: Realm, kind: str) -> None:
    for name in ("gpj.\u202eexe", "An\u200bna", "Anna\u200e", "An\u200dna", "\u3164", "An\ufeffna"):
        check_error(GIVING[kind](realm, name))
    check_success(GIVING[kind](realm, f"{PERSIAN} {FAMILY}"))


@pytest.mark.parametrize("kind", OF_PEOPLE)
def test_nobody_is_called_like_the_bot_of_the_server(realm: Realm, kind: str) -> None:
    for name in ("Notification Bot", "notification bot", "Notificatiоn Bоt", "Notification  B0t"):
        check_error(GIVING[kind](realm, name))


@pytest.mark.parametrize("kind", OF_PEOPLE)
def test_where_names_are_unique_letters_of_other_alphabets_make_no_other_name(realm: Realm, kind: str) -> None:
    check_success(realm.owner.request("PATCH", "realm", require_unique_names=True))
    for name in ("Boris Example", "\u0412\u0435\u0440\u0430 Example", "Mar\u0131a Example"):
        check_success(_person(realm, name))
    for name in (
        "\u0412\u043eris Example",
        "b\u03bfris ex\u0430mple",
        "\u0432\u0435\u0440\u0430 Example",
        "Maria Example",
    ):
        assert "nique" in (msg := check_error(GIVING[kind](realm, name))) or "in use" in msg
    for name in ("Marla Example", "J\u00f6ris Example", "Boris Example 2"):  # names of their own
        check_success(_person(realm, name))


def test_names_that_were_there_before_stay_and_can_be_read(realm: Realm) -> None:
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    sent = realm.member.send(channel.stream_id, "tea")
    old = "old\u200b\u202ename"
    realm.stage.sql("update account set full_name = %s where id = %s", old, realm.member.id)
    realm.stage.sql("update topic set name = %s, name_key = %s where conversation_id = %s", old, old, channel.stream_id)
    message = realm.member.message(sent)
    assert (message["sender_full_name"], message["subject"]) == (old, old)
    assert realm.owner.get(f"users/{realm.member.id}")["user"]["full_name"] == old
    check_success(realm.member.request("PATCH", "settings", timezone="Europe/Lisbon"))
    check_success(realm.owner.request("PATCH", f"messages/{sent}", topic="new", propagate_mode="change_all"))
