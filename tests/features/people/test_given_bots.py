"""A bot is given to somebody else: they are told, and it does not go on telling its former owner what it hears."""

import json

from tests.features.people.test_bot_rights import HOOK, is_refused, make, notices_to
from tests.harness.bot_server import bot_server
from tests.harness.realm import Realm
from tests.harness.talk import check_success, eventually


def test_who_is_given_a_bot_hears_by_whom(realm: Realm) -> None:
    bot = make(realm, realm.member)
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
    eventually(lambda: len(notices_to(realm.moderator, bot)) == 1)
    told = notices_to(realm.moderator, bot)[0]
    assert f"|{realm.member.id}** gave you the bot" in told
    assert "sends" not in told
    check_success(realm.owner.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.owner.id))
    eventually(lambda: len(notices_to(realm.moderator, bot)) == 2)
    assert notices_to(realm.owner, bot) == []


def test_who_is_given_an_outgoing_webhook_says_where_it_sends_what_it_hears(realm: Realm) -> None:
    bot = make(realm, realm.member, bot_type=3, payload_url=HOOK)
    change = {"bot_owner_id": realm.moderator.id, "service_payload_url": '"https://example.com/mine"'}
    assert is_refused(realm.member.request("PATCH", f"bots/{bot.id}", **change))
    given = check_success(realm.member.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
    assert given["service_payload_url"] == ""
    eventually(lambda: len(notices_to(realm.moderator, bot)) == 1)
    assert "doesn’t send what it hears anywhere" in notices_to(realm.moderator, bot)[0]
    theirs = {"service_payload_url": '"https://example.com/theirs"'}
    said = check_success(realm.moderator.request("PATCH", f"bots/{bot.id}", **theirs))
    assert said["service_payload_url"] == "https://example.com/theirs"


def test_a_given_webhook_calls_nobody_until_its_new_owner_says_whom(realm: Realm) -> None:
    with bot_server() as theirs:
        bot = make(realm, realm.member, bot_type=3, payload_url=json.dumps(theirs.url))
        check_success(realm.member.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
        realm.moderator.send([bot.id], content="tea")
        waiting = "select count(*) from hook_call where bot_id = %s"
        eventually(lambda: realm.stage.sql(waiting, bot.id) == [(0,)])
        assert theirs.posted.empty()
    assert not any("failed" in text for text in notices_to(realm.moderator, bot))


def test_an_administrator_gives_a_webhook_with_its_address_which_the_new_owner_is_told(realm: Realm) -> None:
    bot = make(realm, realm.member, bot_type=3, payload_url=HOOK)
    given = check_success(realm.owner.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
    assert given["service_payload_url"] == HOOK
    eventually(lambda: len(notices_to(realm.moderator, bot)) == 1)
    newest = realm.moderator.window("newest", 1, narrow=[{"operator": "is", "operand": "dm"}])["messages"][-1]
    assert f"<strong>{HOOK}</strong>" in newest["content"]
