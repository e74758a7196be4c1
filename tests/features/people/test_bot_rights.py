"""One rule for bots: a bot counts as the lower of its own role and its owner's, and only its owner reads by it."""

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.harness.files import may_fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, MODERATOR, OWNER, User
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, eventually, unique

HOOK = "https://example.com/hook"


def make(realm: Realm, owner: Speaker, role: int | None = None, **fields: Any) -> Speaker:
    """A bot of somebody's, with a role that the organization's owner gave it."""
    word = unique("bot").replace(" ", "-")
    made = owner.post("bots", full_name=unique("Bot"), short_name=word, **fields)
    if role is not None:
        check_success(realm.owner.request("PATCH", f"bots/{made['user_id']}", role=role))
    return as_bot(realm, made["user_id"], made["api_key"])


def as_bot(realm: Realm, bot_id: int, key: str) -> Speaker:
    [(email,)] = realm.stage.sql("select email from account where id = %s", bot_id)
    return realm.as_user(User(bot_id, email, None, key, MEMBER))


def set_role(realm: Realm, person: Speaker, role: int) -> None:
    check_success(realm.owner.request("PATCH", f"users/{person.id}", role=role))


def is_refused(reply: httpx.Response) -> bool:
    return reply.status_code == 400 and reply.json()["code"] in ("BAD_REQUEST", "UNAUTHORIZED_PRINCIPAL")


def is_shut_out(bot: Speaker) -> bool:
    return bot.request("GET", "users/me").status_code == 401


def notices_to(person: Speaker, about: Speaker) -> list[str]:
    """What the notification bot has told somebody of a bot, the newest last."""
    found = person.window("newest", 50, narrow=[{"operator": "is", "operand": "dm"}], apply_markdown=False)["messages"]
    return [message["content"] for message in found if f"|{about.id}**" in message["content"]]


def group_id(realm: Realm, name: str) -> int:
    [(found,)] = realm.stage.sql("select id from user_group where realm_id = %s and name = %s", realm.id, name)
    return int(found)


def is_in(realm: Realm, group: str, user_id: int) -> bool:
    path = f"user_groups/{group_id(realm, group)}/members/{user_id}"
    return bool(realm.owner.get(path)["is_user_group_member"])


# Who touches a bot


@pytest.mark.parametrize(
    ("method", "path", "fields"),
    [
        ("POST", "bots/{bot}/api_key/regenerate", {}),
        ("GET", "bots/{bot}/api_key", {}),
        ("DELETE", "bots/{bot}", {}),
        ("PATCH", "bots/{bot}", {"full_name": "Mine now"}),
        ("PATCH", "bots/{bot}", {"short_name": "mine-now"}),
        ("PATCH", "bots/{bot}", {"bot_owner_id": "{me}"}),
        ("PATCH", "bots/{bot}", {"role": 400}),
        ("PATCH", "users/{bot}", {"full_name": "Mine now"}),
        ("PATCH", "users/{bot}", {"role": 400}),
    ],
)
@pytest.mark.parametrize("role", [OWNER, MEMBER])
def test_an_administrator_does_not_touch_a_bot_of_an_owner(
    realm: Realm, method: str, path: str, fields: Json, role: int
) -> None:
    bot = make(realm, realm.owner, role)
    before = realm.owner.get(f"users/{bot.id}")
    filled = {name: str(value).format(me=realm.administrator.id) for name, value in fields.items()}
    assert is_refused(realm.administrator.request(method, path.format(bot=bot.id), **filled))
    assert realm.owner.get(f"users/{bot.id}") == before
    bot.get("users/me")


def test_an_administrator_does_not_reactivate_a_bot_of_an_owner(realm: Realm) -> None:
    bot = make(realm, realm.owner)
    realm.owner.delete(f"bots/{bot.id}")
    assert is_refused(realm.administrator.request("POST", f"users/{bot.id}/reactivate"))
    realm.owner.post(f"users/{bot.id}/reactivate")


def test_an_administrator_edits_deactivates_and_gives_away_the_bots_of_others(realm: Realm) -> None:
    bot = make(realm, realm.member)
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", full_name=unique("Better")))
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
    realm.administrator.delete(f"bots/{bot.id}")


def test_nobody_but_the_owner_of_a_bot_gets_a_key_of_it(realm: Realm) -> None:
    bot = make(realm, realm.member)
    for speaker in (realm.owner, realm.administrator, realm.moderator):
        assert is_refused(speaker.request("POST", f"bots/{bot.id}/api_key/regenerate"))
        assert is_refused(speaker.request("GET", f"bots/{bot.id}/api_key"))
    bot.get("users/me")
    key = realm.member.post(f"bots/{bot.id}/api_key/regenerate")["api_key"]
    assert is_shut_out(bot)
    as_bot(realm, bot.id, key).get("users/me")


def test_reading_a_key_is_refused_and_makes_none(realm: Realm) -> None:
    bot = make(realm, realm.member)
    told = check_error(realm.member.request("GET", f"bots/{bot.id}/api_key"))
    assert f"/bots/{bot.id}/api_key/regenerate" in told
    assert realm.stage.sql("select count(*) from api_key where user_id = %s", bot.id) == [(1,)]


def test_where_a_bot_sends_what_it_hears_is_for_its_owner_to_say(realm: Realm) -> None:
    bot = make(realm, realm.member, bot_type=3, payload_url=HOOK)
    change = {"service_payload_url": "https://example.com/mine"}
    assert is_refused(realm.administrator.request("PATCH", f"bots/{bot.id}", **change))
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", **change))


# What a bot counts as


def test_a_bot_s_role_is_not_above_its_owner_s_nor_the_actor_s(realm: Realm) -> None:
    bot, unowned = make(realm, realm.member), realm.as_user(realm.stage.user(realm_id=realm.id, bot_type=1))
    for role in (OWNER, ADMINISTRATOR, MODERATOR):
        for path in (f"bots/{bot.id}", f"users/{bot.id}", f"bots/{unowned.id}"):
            assert is_refused(realm.owner.request("PATCH", path, role=role))
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", role=GUEST))
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", role=MEMBER))
    theirs = make(realm, realm.administrator)
    assert is_refused(realm.administrator.request("PATCH", f"bots/{theirs.id}", role=OWNER))
    check_success(realm.administrator.request("PATCH", f"bots/{theirs.id}", role=ADMINISTRATOR))
    assert theirs.get("users/me")["is_admin"] is True


def test_a_bot_s_role_changes_without_a_hold_of_the_organizations_owners(realm: Realm, stage: Stage) -> None:
    bot = make(realm, realm.member, MEMBER)
    with stage.session() as execute:
        execute("select from account where id = %s for no key update", realm.owner.id)
        check_success(realm.administrator.later("PATCH", f"users/{bot.id}", role=GUEST).result(3))
    assert realm.owner.get(f"users/{bot.id}")["user"]["role"] == GUEST


@pytest.mark.holds("bots.no-owner")
def test_a_bot_without_an_owner_is_a_member_at_most(stage: Stage, realm: Realm) -> None:
    bot = realm.as_user(stage.user(OWNER, realm_id=realm.id, bot_type=1))
    assert bot.get("users/me")["role"] == MEMBER
    assert is_refused(bot.request("PATCH", f"users/{realm.member.id}", role=MODERATOR))


def test_the_bot_of_a_demoted_administrator_counts_as_its_owner_does(realm: Realm) -> None:
    person = realm.speaker(ADMINISTRATOR)
    bot = make(realm, person, ADMINISTRATOR)
    check_success(bot.request("PATCH", f"users/{realm.member.id}", full_name="Renamed"))
    assert is_in(realm, "role:administrators", bot.id)
    queue = Queue(realm.member, event_types=["realm_user", "user_group", "message"], fetch_event_types=[])
    set_role(realm, person, MEMBER)
    assert is_refused(bot.request("PATCH", f"users/{person.id}", role=ADMINISTRATOR))
    assert is_refused(bot.request("PATCH", f"users/{bot.id}", role=ADMINISTRATOR))
    assert is_refused(bot.request("POST", f"users/{realm.guest.id}/reactivate"))
    assert not is_in(realm, "role:administrators", bot.id)
    assert is_in(realm, "role:members", bot.id)
    shown = realm.owner.get(f"users/{bot.id}")["user"]
    assert (shown["role"], shown["is_admin"]) == (MEMBER, False)
    told = queue.so_far()
    assert [event["person"] for event in told if event.get("person", {}).get("user_id") == bot.id] == [
        {"user_id": bot.id, "role": MEMBER}
    ]
    left = [event["op"] for event in told if event["type"] == "user_group" and event["user_ids"] == [bot.id]]
    assert sorted(left) == ["add_members", "add_members", "remove_members"]
    set_role(realm, person, ADMINISTRATOR)
    assert bot.get("users/me")["role"] == ADMINISTRATOR


def test_the_bot_of_a_member_made_guest_reads_what_guests_read(realm: Realm, stage: Stage) -> None:
    person = realm.speaker()
    bot = make(realm, person)
    channel, joined = stage.channel(realm.owner, realm_id=realm.id), stage.channel(bot, realm_id=realm.id)
    sent, heard = realm.owner.send(channel.stream_id, "tea"), bot.send(joined.stream_id, "tea")
    bot.get(f"messages/{sent}")
    set_role(realm, person, GUEST)
    check_error(bot.request("GET", f"messages/{sent}"))
    assert channel.stream_id not in {one["stream_id"] for one in bot.get("streams")["streams"]}
    bot.get(f"messages/{heard}")  # subscriptions stay
    assert is_in(realm, "role:members", bot.id) is False


@pytest.mark.parametrize("role", [MEMBER, MODERATOR])
def test_the_queues_of_a_bot_end_when_what_it_counts_as_changes(realm: Realm, role: int) -> None:
    person = realm.speaker(ADMINISTRATOR)
    bot, other = make(realm, person, ADMINISTRATOR), make(realm, person)
    queue, kept = bot.register(), other.register()
    waiting = queue.later()
    set_role(realm, person, role)
    check_error(waiting.result(30), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
    check_error(queue.request(), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
    kept.so_far()  # a member's: it counts as before


def test_of_a_demotion_and_a_new_bot_at_once_the_bot_counts_as_its_owner(realm: Realm) -> None:
    for _ in range(5):
        person = realm.speaker()
        word = unique("bot").replace(" ", "-")
        at_once(
            [
                lambda who=person: realm.owner.request("PATCH", f"users/{who.id}", role=GUEST),  # type: ignore[misc]
                lambda who=person, name=word: who.request("POST", "bots", full_name=name, short_name=name),  # type: ignore[misc]
            ]
        )
        roles = realm.stage.sql("select role from account where bot_owner_id = %s", person.id)
        assert roles in ([], [(GUEST,)])


# When keys end


def test_no_key_revives_with_its_account(realm: Realm) -> None:
    person = realm.speaker()
    bot = make(realm, person)
    realm.owner.delete(f"users/{person.id}")
    assert is_shut_out(person)
    realm.owner.post(f"users/{person.id}/reactivate")
    realm.owner.post(f"users/{bot.id}/reactivate")
    for speaker in (person, bot):
        assert is_shut_out(speaker)
        assert realm.owner.get(f"users/{speaker.id}")["user"]["is_active"] is True


def test_no_key_of_a_bot_revives_with_it_and_its_owner_makes_a_new_one(realm: Realm) -> None:
    bot = make(realm, realm.member)
    realm.member.delete(f"bots/{bot.id}")
    realm.member.post(f"users/{bot.id}/reactivate")
    assert is_shut_out(bot)
    key = realm.member.post(f"bots/{bot.id}/api_key/regenerate")["api_key"]
    as_bot(realm, bot.id, key).get("users/me")


def test_a_bot_that_is_given_away_has_new_keys_and_queues(realm: Realm) -> None:
    bot = make(realm, realm.member)
    queue = bot.register()
    waiting = queue.later()
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
    assert waiting.result(30).json()["code"] in ("BAD_EVENT_QUEUE_ID", "UNAUTHORIZED")
    assert is_shut_out(bot)
    assert is_refused(realm.member.request("POST", f"bots/{bot.id}/api_key/regenerate"))
    key = realm.moderator.post(f"bots/{bot.id}/api_key/regenerate")["api_key"]
    fresh = as_bot(realm, bot.id, key)
    assert fresh.get("users/me")["bot_owner_id"] == realm.moderator.id
    check_error(queue.request(fresh), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


def test_giving_a_bot_away_never_makes_it_more(realm: Realm) -> None:
    person = realm.speaker(ADMINISTRATOR)
    bot = make(realm, person, ADMINISTRATOR)
    set_role(realm, person, MEMBER)
    check_success(person.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.administrator.id))
    assert realm.owner.get(f"users/{bot.id}")["user"]["role"] == MEMBER
    set_role(realm, person, ADMINISTRATOR)
    assert realm.owner.get(f"users/{bot.id}")["user"]["role"] == MEMBER


# What a new owner does not come to read


def new_key(realm: Realm, owner: Speaker, bot: Speaker) -> Speaker:
    return as_bot(realm, bot.id, owner.post(f"bots/{bot.id}/api_key/regenerate")["api_key"])


def test_a_bot_leaves_the_private_channels_that_its_new_owner_cannot_read(realm: Realm, stage: Stage) -> None:
    bot = make(realm, realm.member)
    secret = stage.channel(realm.member, bot, invite_only=True, realm_id=realm.id)
    shared = stage.channel(realm.member, bot, realm.administrator, invite_only=True, realm_id=realm.id)
    protected = stage.channel(realm.member, bot, realm.administrator, invite_only=True, realm_id=realm.id)
    open_one = stage.channel(bot, realm_id=realm.id)
    stage.sql("update channel set history_public_to_subscribers = true where id = %s", shared.stream_id)
    hidden, seen, old = (realm.member.send(one.stream_id, "tea") for one in (secret, shared, protected))
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.administrator.id))
    fresh = new_key(realm, realm.administrator, bot)
    check_error(fresh.request("GET", f"messages/{hidden}"))
    fresh.get(f"messages/{seen}")
    check_error(fresh.request("GET", f"messages/{old}"))
    fresh.get(f"messages/{realm.member.send(protected.stream_id, 'tea')}")
    own = {one["stream_id"] for one in fresh.get("users/me/subscriptions")["subscriptions"]}
    assert own == {shared.stream_id, protected.stream_id, open_one.stream_id}
    assert stage.sql("select subscriber_count from channel where id = %s", secret.stream_id) == [(1,)]


def test_a_bot_forgets_at_a_handover_what_it_was_told_directly(realm: Realm) -> None:
    bot = make(realm, realm.member)
    told = realm.moderator.send([bot.id], content="the code is plum")
    group = realm.moderator.send([bot.id, realm.member.id], content="the plum is blue")
    assert bot.message(told)["id"] == told
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.administrator.id))
    fresh = new_key(realm, realm.administrator, bot)
    for old in (told, group):
        check_error(fresh.request("GET", f"messages/{old}"))
        assert fresh.window(old, 5, 5)["messages"] == []
    for narrow in (
        [{"operator": "is", "operand": "dm"}],
        [{"operator": "dm", "operand": [realm.moderator.id]}],
        [{"operator": "dm", "operand": [realm.moderator.id, realm.member.id]}],
        [{"operator": "dm-including", "operand": realm.moderator.id}],
        [{"operator": "search", "operand": "plum"}],
        [{"operator": "sender", "operand": realm.moderator.id}],
        [{"operator": "id", "operand": told}],
    ):
        assert fresh.window("newest", 50, 0, narrow=narrow)["messages"] == []
    assert fresh.unread()["count"] == 0
    check_error(fresh.request("POST", f"messages/{told}/reactions", emoji_name="octopus"))
    again = realm.moderator.send([bot.id], content="hello again")
    assert [one["id"] for one in fresh.window("newest", 50, 0)["messages"]] == [again]
    assert realm.moderator.message(told)["content"] == "<p>the code is plum</p>"


def test_who_reactivates_the_bot_of_somebody_gone_owns_it_and_reads_nothing_old(realm: Realm, stage: Stage) -> None:
    person = realm.speaker()
    bot = make(realm, person)
    secret = stage.channel(person, bot, invite_only=True, realm_id=realm.id)
    sent, told = person.send(secret.stream_id, "tea"), realm.moderator.send([bot.id], content="plum")
    realm.owner.delete(f"users/{person.id}")
    realm.administrator.post(f"users/{bot.id}/reactivate")
    assert realm.owner.get(f"users/{bot.id}")["user"]["bot_owner_id"] == realm.administrator.id
    fresh = new_key(realm, realm.administrator, bot)
    for old in (sent, told):
        check_error(fresh.request("GET", f"messages/{old}"))
    assert fresh.get("users/me/subscriptions")["subscriptions"] == []


def give_to_administrator(realm: Realm, bot: Speaker, _person: Speaker) -> None:
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.administrator.id))


def reactivate_after_its_owner(realm: Realm, bot: Speaker, person: Speaker) -> None:
    realm.owner.delete(f"users/{person.id}")
    realm.administrator.post(f"users/{bot.id}/reactivate")


@pytest.mark.parametrize("hand_over", [give_to_administrator, reactivate_after_its_owner])
def test_a_bots_own_things_do_not_come_to_its_new_owner(
    realm: Realm, stage: Stage, hand_over: Callable[[Realm, Speaker, Speaker], None]
) -> None:
    person = realm.speaker()
    bot = make(realm, person)
    linked, loose = upload(bot, "plan.txt"), upload(bot, "loose.txt")
    sent = bot.send([realm.moderator.id], content=f"[plan]({linked})")
    shown = upload(bot, "shown.txt")
    place = stage.channel(bot, realm_id=realm.id)
    bot.send(place.stream_id, "tea", content=f"[shown]({shown})")
    bot.post("messages/flags", messages=[sent], op="add", flag="starred")
    check_success(bot.request("PUT", "bot_storage", storage={"plum": "blue"}))
    bot.post("users/me/alert_words", alert_words=["plum"])
    later = int(time.time()) + 86_400
    bot.post(
        "scheduled_messages", type="direct", to=[realm.moderator.id], content="plum", scheduled_delivery_timestamp=later
    )
    hand_over(realm, bot, person)
    fresh = new_key(realm, realm.administrator, bot)
    assert fresh.get("attachments")["attachments"] == []
    assert not may_fetch(fresh, linked)
    assert not may_fetch(fresh, loose)
    assert may_fetch(fresh, shown)
    assert may_fetch(realm.moderator, linked)
    assert fresh.get("bot_storage")["storage"] == {}
    assert fresh.get("scheduled_messages")["scheduled_messages"] == []
    assert fresh.get("users/me/alert_words")["alert_words"] == []
    state = fresh.post("register", fetch_event_types=["starred_messages", "message", "recent_private_conversations"])
    assert state["starred_messages"] == []
    assert state["recent_private_conversations"] == []
    owners = stage.sql(
        "select distinct owner_id from attachment where name in ('plan.txt', 'loose.txt', 'shown.txt')"
        " and realm_id = %s",
        realm.id,
    )
    assert owners == [(person.id,)]


def test_a_former_owner_has_the_files_of_the_bot(realm: Realm) -> None:
    bot = make(realm, realm.member)
    file = upload(bot, "plan.txt")
    give_to_administrator(realm, bot, realm.member)
    assert may_fetch(realm.member, file)
    [one] = [one for one in realm.member.get("attachments")["attachments"] if file.endswith(one["path_id"])]
    realm.member.delete(f"attachments/{one['id']}")
    eventually(lambda: any("files" in text for text in notices_to(realm.member, bot)))


def test_files_of_a_bot_without_an_owner_are_nobodys_when_it_gets_one(realm: Realm, stage: Stage) -> None:
    bot = make(realm, realm.member)
    file = upload(bot, "plan.txt")
    stage.sql("update account set bot_owner_id = null where id = %s", bot.id)
    give_to_administrator(realm, bot, realm.member)
    assert not may_fetch(new_key(realm, realm.administrator, bot), file)


def test_a_bot_does_not_come_to_own_a_bot(realm: Realm) -> None:
    person = realm.speaker()
    bot, program = make(realm, person), make(realm, realm.administrator, ADMINISTRATOR)
    realm.owner.delete(f"users/{person.id}")
    assert is_refused(program.request("POST", f"users/{bot.id}/reactivate"))
    assert realm.owner.get(f"users/{bot.id}")["user"]["is_active"] is False


# Who is told


def test_the_owner_hears_of_a_key_that_the_bot_itself_made(realm: Realm) -> None:
    bot = make(realm, realm.member)
    assert notices_to(realm.member, bot) == []
    bot.post("users/me/api_key/regenerate")
    eventually(lambda: len(notices_to(realm.member, bot)) == 1)
    assert "API key" in notices_to(realm.member, bot)[0]


def test_the_owner_hears_of_a_key_that_was_made_in_their_name(realm: Realm) -> None:
    bot = make(realm, realm.member)
    realm.member.post(f"bots/{bot.id}/api_key/regenerate")
    eventually(lambda: len(notices_to(realm.member, bot)) == 1)


def test_the_former_owner_hears_who_gave_their_bot_away(realm: Realm) -> None:
    bot = make(realm, realm.member)
    check_success(realm.administrator.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
    eventually(lambda: len(notices_to(realm.member, bot)) == 1)
    told = notices_to(realm.member, bot)[0]
    assert f"|{realm.administrator.id}**" in told
    assert f"|{realm.moderator.id}**" in told
