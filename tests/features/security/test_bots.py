"""Past advisories, class BO: what bots and extra parameters can do (docs/reference/advisories.md)."""

import json

from tests.harness.bot_server import bot_server
from tests.harness.channels import make
from tests.harness.realm import Realm
from tests.harness.talk import Json, Speaker, check_success, unique


def test_bo_02_the_answer_of_a_bot_stays_in_the_conversation_that_called_it(realm: Realm) -> None:
    asked, other = make(realm, realm.member), make(realm, realm.member, realm.owner)
    name = unique("Tea Bot")
    with bot_server() as theirs:
        there: Json = {"stream": other.name, "to": other.stream_id, "stream_id": other.stream_id, "type": "channel"}
        theirs.says({"content": "served", "topic": "elsewhere", "subject": "elsewhere", "sender": "x", **there})
        short = name.lower().replace(" ", "-")
        fields = {"full_name": name, "short_name": short, "bot_type": 3, "payload_url": json.dumps(theirs.url)}
        bot = realm.member.post("bots", **fields)["user_id"]
        with realm.member.register() as queue:
            realm.member.send(asked.stream_id, "tea", f"@**{name}** please")
            event = queue.until(lambda event: event["type"] == "message" and event["message"]["sender_id"] == bot)[-1]
    message = event["message"]
    assert (message["stream_id"], message["subject"], message["content"]) == (asked.stream_id, "tea", "served")


def test_bo_08_a_parameter_that_an_endpoint_does_not_have_reaches_nothing(realm: Realm) -> None:
    member = realm.member
    more: Json = {
        "role": 100,
        "is_admin": True,
        "is_owner": True,
        "realm_id": 1,
        "user_id": realm.owner.id,
        "id": 1,
        "sender": realm.owner.email,
        "sender_id": realm.owner.id,
        "forged": True,
        "date_sent": 0,
        "flags": ["starred"],
        "is_active": False,
        "bot_owner_id": realm.owner.id,
        "password_hash": "x",
        "api_key": "x",
    }
    before = member.get("users/me")
    sent = member.post("messages", **{**more, "type": "direct", "to": [member.id], "content": "x"})
    changed = member.http.patch("settings", json={**more, "twenty_four_hour_time": True}).json()
    assert set(more) <= set(sent["ignored_parameters_unsupported"])
    assert set(more) <= set(changed["ignored_parameters_unsupported"])
    message = member.message(sent["id"])
    assert (message["sender_id"], message["timestamp"] > 0, "starred" in message["flags"]) == (member.id, True, False)
    after = member.get("users/me")
    assert {**after, "max_message_id": 0} == {**before, "max_message_id": 0}


def test_bo_06_the_token_of_a_hook_is_its_owners_alone_and_ends_with_a_handover(realm: Realm) -> None:
    def services(state: Json, bot: int) -> list[Json]:
        [found] = [one["services"] for one in state["realm_bots"] if one["user_id"] == bot]
        return list(found)

    def state(speaker: Speaker) -> Json:
        return speaker.post("register", event_types=[], fetch_event_types=["realm_bot"])

    listening = realm.administrator.register(event_types=["realm_bot", "message"], fetch_event_types=["realm_bot"])
    short = unique("tea").replace(" ", "-")
    fields = {
        "full_name": unique("Tea"),
        "short_name": short,
        "bot_type": 3,
        "payload_url": '"https://example.com/tea"',
    }
    bot = realm.member.post("bots", **fields)["user_id"]
    [own] = services(state(realm.member), bot)
    assert len(own["token"]) == 32
    [seen] = services(state(realm.administrator), bot)
    assert (seen["base_url"], seen["token"]) == ("https://example.com/tea", "")
    check_success(realm.member.request("PATCH", f"bots/{bot}", service_payload_url='"https://example.com/other"'))
    assert own["token"] not in json.dumps(listening.so_far())
    check_success(realm.administrator.request("PATCH", f"bots/{bot}", bot_owner_id=realm.administrator.id))
    [new] = services(state(realm.administrator), bot)
    told = [event for event in listening.so_far() if event["type"] == "realm_bot" and event["op"] == "update"]
    assert told[-1]["bot"]["services"] == [new]
    assert new["token"] not in ("", own["token"])
