"""Bots: made, listed, changed, deactivated; who may, who hears of it."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.harness.realm import Realm
from tests.harness.server import User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

HOOK = '"https://example.com/hook"'


def short_name() -> str:
    return unique("helper").replace(" ", "-")


def make(owner: Speaker, **fields: Any) -> Json:
    return owner.post("bots", **{"full_name": unique("Helper"), "short_name": short_name(), **fields})


def ask(owner: Speaker, **fields: Any) -> httpx.Response:
    return owner.request("POST", "bots", **{"full_name": unique("Helper"), "short_name": short_name(), **fields})


def change(speaker: Speaker, bot: Json, **fields: Any) -> httpx.Response:
    return speaker.request("PATCH", f"bots/{bot['user_id']}", **fields)


def as_bot(realm: Realm, bot: Json, key: str | None = None) -> Speaker:
    """The bot itself."""
    [(email,)] = realm.stage.sql("select email from account where id = %s", bot["user_id"])
    user = User(bot["user_id"], email, None, key or bot["api_key"], 400)
    return realm.stage.speaker(user, host=realm.host)


def bots_in_state(speaker: Speaker) -> dict[int, Json]:
    state = speaker.post("register", event_types=[], fetch_event_types=["realm_bot"])
    speaker.delete("events", queue_id=state["queue_id"])
    return {bot["user_id"]: bot for bot in state["realm_bots"]}


@pytest.fixture
def listen(realm: Realm) -> Callable[[Speaker], Queue]:
    return lambda speaker: speaker.register(event_types=["realm_bot", "message"])


def test_a_bot_is_made_with_an_address_and_a_key_that_works(realm: Realm) -> None:
    name = short_name()
    made = make(realm.member, full_name="Tea Timer", short_name=name)
    assert made == {
        "result": "success",
        "msg": "",
        "user_id": made["user_id"],
        "api_key": made["api_key"],
        "avatar_url": f"/avatar/{made['user_id']}?v=1",
        "default_sending_stream": None,
        "default_events_register_stream": None,
        "default_all_public_streams": False,
    }
    domain = realm.member.post("register", event_types=[], fetch_event_types=["realm"])["realm_bot_domain"]
    bot = as_bot(realm, made)
    assert bot.email == f"{name}-bot@{domain}"
    own = bot.get("users/me")
    assert (own["full_name"], own["is_bot"], own["bot_type"]) == ("Tea Timer", True, 1)
    assert (own["bot_owner_id"], own["role"], own["delivery_email"]) == (realm.member.id, 400, bot.email)


def test_everybody_hears_of_the_new_user_and_owner_and_administrators_of_the_bot(
    realm: Realm, listen: Callable[[Speaker], Queue]
) -> None:
    with listen(realm.member) as own, listen(realm.administrator) as theirs, listen(realm.moderator) as others:
        with realm.moderator.register(event_types=["realm_user", "message"]) as people:
            made = make(realm.member)
            [person] = people.so_far()
        for queue in (own, theirs):
            [event] = queue.so_far()
            del event["id"]
            bot = {
                "user_id": made["user_id"],
                "services": [],
                "default_sending_stream": None,
                "default_events_register_stream": None,
                "default_all_public_streams": False,
            }
            assert event == {"type": "realm_bot", "op": "add", "bot": bot}
            assert bots_in_state(queue.speaker)[made["user_id"]] == bot
        assert [event for event in others.so_far() if event["type"] == "realm_bot"] == []
    assert (person["op"], person["person"]["bot_owner_id"]) == ("add", realm.member.id)
    assert made["user_id"] not in bots_in_state(realm.moderator)


def test_an_outgoing_webhook_has_a_service(realm: Realm, listen: Callable[[Speaker], Queue]) -> None:
    check_error(ask(realm.member, bot_type=3))
    for bad in (
        "not a url",
        '"ftp://example.com"',
        '"https://"',
        '"https://user:pw@example.com/"',
        '"http://[::1"',
        '"',
    ):
        check_error(ask(realm.member, bot_type=3, payload_url=bad))
    check_error(ask(realm.member, bot_type=3, payload_url=HOOK, interface_type=3))
    made = make(realm.member, bot_type=3, payload_url=HOOK, interface_type=2)
    [service] = bots_in_state(realm.member)[made["user_id"]]["services"]
    assert (service["base_url"], service["interface"], len(service["token"])) == ("https://example.com/hook", 2, 32)
    with listen(realm.member) as queue:
        reply = check_success(change(realm.member, made, service_payload_url='"https://example.com/2"'))
        assert (reply["service_payload_url"], reply["service_interface"]) == ("https://example.com/2", 2)
        check_success(change(realm.member, made, service_interface=2))
        [event] = queue.so_far()
        assert (event["op"], event["bot"]["user_id"]) == ("update", made["user_id"])
        [now] = event["bot"]["services"]
        assert now == {**service, "base_url": "https://example.com/2"}
    assert bots_in_state(realm.member)[made["user_id"]]["services"] == [now]
    check_error(change(realm.member, make(realm.member), service_interface=1))


def test_types_that_cannot_be_made_are_refused(realm: Realm) -> None:
    assert "Embedded" in check_error(ask(realm.member, bot_type=4))
    for bad in (0, 5, -1):
        assert check_error(ask(realm.member, bot_type=bad)) == "Invalid bot type"
    check_error(ask(realm.member, bot_type="generic"))


@pytest.mark.parametrize("missing", ["full_name", "short_name"])
def test_both_names_are_needed(realm: Realm, missing: str) -> None:
    assert missing in check_error(ask(realm.member, **{missing: None}))


@pytest.mark.parametrize("bad", ["", " ", "a b", "a@b", "-a", "é", "a:b", "a\n", "x" * 57, "a<b"])
def test_a_short_name_must_make_an_address(realm: Realm, bad: str) -> None:
    if bad == "a\n":
        bad = "a\nb"
    check_error(ask(realm.member, short_name=bad))


@pytest.mark.parametrize("bad", ["", " ", "a*b", "x" * 101, "Kettle|12"])
def test_the_full_name_has_the_rules_of_names(realm: Realm, bad: str) -> None:
    check_error(ask(realm.member, full_name=bad))


def test_address_and_name_are_used_once(realm: Realm) -> None:
    name, full_name = short_name(), unique("Kettle")
    made = make(realm.member, short_name=name, full_name=full_name)
    assert check_error(ask(realm.moderator, short_name=name.upper())) == "Email is already in use."
    assert check_error(ask(realm.moderator, full_name=full_name.upper())) == "Name is already in use."
    other = make(realm.member)
    assert check_error(change(realm.member, other, full_name=full_name)) == "Name is already in use."
    realm.member.delete(f"bots/{made['user_id']}")
    make(realm.moderator, full_name=full_name)


def test_guests_and_bots_have_no_bots(realm: Realm) -> None:
    bot = as_bot(realm, make(realm.member))
    for method, path in [
        ("POST", "bots"),
        ("GET", "bots"),
        ("PATCH", "bots/1"),
        ("DELETE", "bots/1"),
        ("GET", "bots/1/api_key"),
        ("POST", "bots/1/api_key/regenerate"),
    ]:
        assert check_error(realm.guest.request(method, path)) == "Not allowed for guest users"
        assert check_error(bot.request(method, path)) == "This endpoint does not accept bot requests."
        nobody = realm.stage.nobody(host=realm.host)
        check_error(nobody.request(method, path), "UNAUTHORIZED", 401)


def test_the_right_to_make_bots_is_asked_by_type(realm: Realm) -> None:
    def give(setting: str, group: str) -> None:
        sql = """
        insert into realm_permission (realm_id, setting, group_id)
        select realm_id, %s, id from user_group where realm_id = %s and name = %s
        on conflict (realm_id, setting) do update set group_id = excluded.group_id
        """
        realm.stage.sql(sql, setting, realm.id, group)

    give("can_create_bots_group", "role:administrators")
    assert check_error(ask(realm.member)) == "Insufficient permission"
    check_error(ask(realm.member, bot_type=3, payload_url=HOOK))
    make(realm.member, bot_type=2)
    make(realm.administrator)
    give("can_create_write_only_bots_group", "role:nobody")
    check_error(ask(realm.member, bot_type=2))
    make(realm.administrator, bot_type=2)
    give("can_create_bots_group", "role:nobody")
    check_error(ask(realm.owner))


def test_people_list_their_own_active_bots_without_keys(realm: Realm) -> None:
    name = short_name()
    made, gone = make(realm.member, short_name=name, full_name="Bot of mine", bot_type=2), make(realm.member)
    make(realm.moderator)
    realm.member.delete(f"bots/{gone['user_id']}")
    [listed] = realm.member.get("bots")["bots"]
    assert listed == {
        "user_id": made["user_id"],
        "username": as_bot(realm, made).email,
        "full_name": "Bot of mine",
        "avatar_url": made["avatar_url"],
        "bot_type": 2,
        "api_key": None,
        "default_sending_stream": None,
        "default_events_register_stream": None,
        "default_all_public_streams": False,
    }
    assert realm.owner.get("bots")["bots"] == []


def test_owner_and_administrators_change_a_bot_and_others_do_not(realm: Realm) -> None:
    made = make(realm.member)
    for speaker, name in [(realm.member, "First"), (realm.administrator, "Second"), (realm.owner, "Third")]:
        reply = check_success(change(speaker, made, full_name=unique(name)))
        assert reply["full_name"].startswith(name)
        assert (reply["bot_owner"], reply["avatar_url"]) == (realm.member.email, made["avatar_url"])
    for path in (f"bots/{made['user_id']}/api_key", f"bots/{made['user_id']}"):
        method = "GET" if path.endswith("key") else "DELETE"
        assert check_error(realm.moderator.request(method, path)) == "Insufficient permission"
    check_error(change(realm.moderator, made, full_name="Mine now"))
    check_error(realm.moderator.request("POST", f"bots/{made['user_id']}/api_key/regenerate"))


def test_what_is_no_bot_of_the_organization_does_not_exist(realm: Realm, stage: Stage) -> None:
    elsewhere = stage.user(bot_type=1)
    for id in (realm.guest.id, 2**40, elsewhere.user_id):
        for method, path in [("PATCH", ""), ("DELETE", ""), ("GET", "/api_key"), ("POST", "/api_key/regenerate")]:
            assert check_error(realm.owner.request(method, f"bots/{id}{path}")) == "No such bot"


def test_only_administrators_change_the_role_of_a_bot_and_only_owners_make_it_an_owner(realm: Realm) -> None:
    made, theirs, mine = make(realm.member), make(realm.administrator), make(realm.owner)
    check_error(change(realm.member, made, role=600), "UNAUTHORIZED_PRINCIPAL")
    check_error(change(realm.administrator, theirs, role=100), "UNAUTHORIZED_PRINCIPAL")
    check_error(change(realm.administrator, theirs, role=500))
    check_success(change(realm.administrator, theirs, role=300))
    check_success(change(realm.administrator, made, role=600))
    check_success(change(realm.owner, mine, role=100))
    assert [as_bot(realm, one).get("users/me")["role"] for one in (made, theirs, mine)] == [600, 300, 100]


def test_a_bot_is_given_to_somebody_else(realm: Realm, listen: Callable[[Speaker], Queue]) -> None:
    made = make(realm.member, bot_type=3, payload_url=HOOK)
    with listen(realm.member) as old, listen(realm.moderator) as new, listen(realm.owner) as all_bots:
        reply = check_success(change(realm.member, made, bot_owner_id=realm.moderator.id))
        assert reply["bot_owner"] == realm.moderator.email
        [lost] = old.so_far()
        assert (lost["op"], lost["bot"]) == ("delete", {"user_id": made["user_id"]})
        [gained] = [event for event in new.so_far() if event["type"] == "realm_bot"]
        assert (gained["op"], gained["bot"]) == ("add", bots_in_state(realm.moderator)[made["user_id"]])
        # Its server gets another token, which is for the new owner to know, as it is for them to say where that server is.
        [renewed] = all_bots.so_far()
        assert (renewed["op"], renewed["bot"]) == (
            "update",
            {"user_id": made["user_id"], "services": [{"base_url": "", "interface": 1, "token": ""}]},
        )
    assert made["user_id"] not in bots_in_state(realm.member)
    assert check_error(change(realm.member, made, full_name="Mine")) == "Insufficient permission"
    assert realm.owner.get(f"users/{made['user_id']}")["user"]["bot_owner_id"] == realm.moderator.id


def test_not_everybody_can_be_given_a_bot(realm: Realm, stage: Stage) -> None:
    made, other = make(realm.member), make(realm.member)
    gone = stage.user(realm_id=realm.id)
    realm.owner.delete(f"users/{gone.user_id}")
    answers = [
        check_error(change(realm.member, made, bot_owner_id=id))
        for id in (2**40, gone.user_id, other["user_id"], realm.guest.id, stage.user().user_id)
    ]
    assert [answer.partition(", ")[0] for answer in answers] == ["Failed to change owner"] * 5
    assert len(set(answers)) == 4


def test_a_deactivated_bot_is_off_and_nobody_s_key_opens_it(realm: Realm) -> None:
    made = make(realm.member)
    bot = as_bot(realm, made)
    with bot.register() as queue:
        realm.member.delete(f"bots/{made['user_id']}")
        check_error(queue.request(), "UNAUTHORIZED", 401)
    check_error(realm.member.request("DELETE", f"bots/{made['user_id']}"))
    check_error(realm.member.request("GET", f"bots/{made['user_id']}/api_key"))
    [found] = realm.member.get("users", user_ids=[made["user_id"]])["members"]
    assert found["is_active"] is False
    check_error(realm.member.request("POST", f"bots/{made['user_id']}/api_key/regenerate"))
    realm.member.post(f"users/{made['user_id']}/reactivate")
    [found] = realm.member.get("users", user_ids=[made["user_id"]])["members"]
    assert found["is_active"] is True


def test_a_regenerated_key_replaces_all(realm: Realm) -> None:
    made = make(realm.member)
    path = f"bots/{made['user_id']}/api_key/regenerate"
    keys = [made["api_key"], *(realm.member.post(path)["api_key"] for _ in range(2))]
    for key in keys[:2]:
        check_error(as_bot(realm, made, key).request("GET", "users/me"), "UNAUTHORIZED", 401)
    as_bot(realm, made, keys[2]).get("users/me")


def test_an_incoming_webhook_may_send_and_nothing_else(realm: Realm) -> None:
    webhook = as_bot(realm, make(realm.member, bot_type=2))
    sent = webhook.send([realm.member.id], content="the kettle boils")
    assert realm.member.message(sent)["sender_id"] == webhook.id
    for method, path in [
        ("GET", "users/me"),
        ("GET", "users"),
        ("GET", "messages"),
        ("POST", "register"),
        ("GET", "events"),
        ("POST", "messages/flags"),
        ("GET", "user_groups"),
        ("GET", "bots"),
        ("POST", "users/me/api_key/regenerate"),
    ]:
        reply = webhook.request(method, path)
        check_error(reply, "UNAUTHORIZED", 401)
        assert reply.headers["www-authenticate"].startswith("Basic realm=")


def test_what_bots_do_not_support_is_reported_as_ignored(realm: Realm) -> None:
    made = make(realm.member, config_data={}, service_name="x")
    assert made["ignored_parameters_unsupported"] == ["config_data", "service_name"]


def test_defaults_of_a_bot_are_channels_by_name(realm: Realm) -> None:
    first, second = (realm.stage.channel(realm.member, realm_id=realm.id) for _ in range(2))
    types = ["realm_bot", "message"]
    with Queue(realm.owner, event_types=types, fetch_event_types=types) as queue:
        made = realm.member.post(
            "bots", full_name=unique("Bot"), short_name=unique("b").replace(" ", ""), default_sending_stream=first.name
        )
        assert (made["default_sending_stream"], made["default_all_public_streams"]) == (first.name, False)
        path = f"bots/{made['user_id']}"
        wanted = {"default_events_register_stream": second.name, "default_all_public_streams": True}
        changed = check_success(realm.member.request("PATCH", path, **wanted))
        assert changed["default_sending_stream"] == first.name
        assert {name: changed[name] for name in wanted} == wanted
        check_success(realm.owner.request("PATCH", f"streams/{first.stream_id}", new_name=f"{first.name} x"))
        check_success(realm.member.request("PATCH", path, default_events_register_stream=""))
        known = {bot["user_id"]: bot for bot in queue.state["realm_bots"]}
        for event in queue.so_far():
            known[event["bot"]["user_id"]] = known.get(event["bot"]["user_id"], {}) | event["bot"]
        with Queue(realm.owner, event_types=types, fetch_event_types=types) as later:
            assert known == {bot["user_id"]: bot for bot in later.state["realm_bots"]}
    [listed] = realm.member.get("bots")["bots"]
    assert listed["default_sending_stream"] == f"{first.name} x"
    assert listed["default_events_register_stream"] is None


def test_a_bot_sends_and_listens_by_its_defaults(realm: Realm) -> None:
    channel, other = (realm.stage.channel(realm.member, realm_id=realm.id) for _ in range(2))
    bot = realm.bot(realm.member)
    fields = {"type": "channel", "topic": "tea", "content": "Hello"}
    check_error(bot.request("POST", "messages", **fields))
    wanted = {"default_sending_stream": channel.name, "default_all_public_streams": True}
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", **wanted))
    assert realm.member.message(bot.post("messages", **fields)["id"])["stream_id"] == channel.stream_id
    with bot.register() as queue, bot.register(all_public_streams=False) as narrow:
        sent = realm.member.send(other.stream_id, "tea")
        assert queue.message_event(sent)["message"]["id"] == sent
        assert narrow.so_far() == []
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", default_events_register_stream=channel.name))
    with bot.register() as queue:
        realm.member.send(other.stream_id, "tea")
        sent = realm.member.send(channel.stream_id, "tea")
        assert [event["message"]["id"] for event in queue.until_message(sent)] == [sent]


def test_a_default_channel_is_one_that_the_caller_reaches(realm: Realm) -> None:
    hidden = realm.stage.channel(realm.owner, invite_only=True, realm_id=realm.id)
    bot = realm.bot(realm.member)
    for name in (hidden.name, unique("nowhere")):
        reply = realm.member.request("PATCH", f"bots/{bot.id}", default_sending_stream=name)
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream=name)


def test_a_new_short_name_is_a_new_address(realm: Realm) -> None:
    word = unique("b").replace(" ", "")
    made = realm.member.post("bots", full_name=unique("Bot"), short_name=word)
    taken = realm.member.post("bots", full_name=unique("Bot"), short_name=f"{word}x")
    assert taken["user_id"]
    with Queue(realm.guest, event_types=["realm_user", "message"], fetch_event_types=[]) as queue:
        path = f"bots/{made['user_id']}"
        check_error(realm.member.request("PATCH", path, short_name=f"{word}X"))
        check_error(realm.member.request("PATCH", path, short_name="a b"))
        check_success(realm.member.request("PATCH", path, short_name=f"{word}y"))
        told = [event["person"] for event in queue.so_far()]
    email = realm.owner.get(f"users/{made['user_id']}")["user"]["email"]
    assert email.startswith(f"{word}y-bot@")
    assert [set(one) - {"user_id"} for one in told] == [{"delivery_email"}, {"new_email"}]
    assert told[1]["new_email"] == email
