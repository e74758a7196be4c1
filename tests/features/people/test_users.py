"""Making, changing, deactivating and reactivating users: who may, what happens, who hears of it."""

from functools import partial

import pytest

from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm, listening, people_events
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, MODERATOR, OWNER
from tests.harness.stage import Stage, at_once, later
from tests.harness.talk import Json, Speaker, check_error, check_success, unique


def fresh(**more: str) -> dict[str, str]:
    return {
        "email": unique("new").replace(" ", ".") + "@example.com",
        "password": "a long password",
        "full_name": "New",
    } | more


# Making


def test_an_administrator_makes_an_account_and_everybody_hears_of_it(realm: Realm) -> None:
    queue = listening(realm.guest)
    asked = fresh(full_name="  Ana López ")
    user_id = realm.administrator.post("users", **asked)["user_id"]
    record = realm.member.get(f"users/{user_id}", include_custom_profile_fields=True)["user"]
    assert (record["full_name"], record["email"], record["role"]) == ("Ana López", asked["email"], MEMBER)
    [added] = people_events(queue)
    del record["is_active"]
    assert (added["op"], added["person"]) == ("add", record)


@pytest.mark.parametrize("role", ["moderator", "member", "guest"])
def test_nobody_else_makes_accounts(realm: Realm, role: str) -> None:
    check_error(getattr(realm, role).request("POST", "users", **fresh()), "UNAUTHORIZED_PRINCIPAL")


def test_an_address_is_used_once_whatever_its_case(realm: Realm) -> None:
    email = realm.member.email.upper()
    assert check_error(realm.owner.request("POST", "users", **fresh(email=email))) == "Email is already in use."


@pytest.mark.parametrize(
    "wrong",
    [
        {"email": "no address"},
        {"email": "a:b@example.com"},
        {"full_name": " "},
        {"full_name": "x" * 101},
        {"full_name": "Ana @ López"},
        {"full_name": "Ana|12"},
        {"full_name": "Ana\tLópez"},
        {"password": "short"},
        {"password": "x" * 101},
    ],
)
def test_an_account_needs_an_address_a_name_and_a_password(realm: Realm, wrong: dict[str, str]) -> None:
    check_error(realm.owner.request("POST", "users", **fresh(**wrong)))


def test_a_made_up_address_is_nobodys_real_one(realm: Realm) -> None:
    check_error(realm.owner.request("POST", "users", **fresh(email=f"user{realm.member.id}@{realm.host}")))


# Changing


def test_an_administrator_changes_names_and_everybody_hears_of_it(realm: Realm) -> None:
    queue = listening(realm.guest)
    check_success(realm.administrator.request("PATCH", f"users/{realm.member.id}", full_name=" Another Name "))
    assert realm.member.get("users/me")["full_name"] == "Another Name"
    [changed] = people_events(queue)
    assert (changed["op"], changed["person"]) == ("update", {"user_id": realm.member.id, "full_name": "Another Name"})


def test_a_new_name_waits_for_nobody_who_only_refers_to_the_user_and_a_new_role_gives_way_to_them(
    realm: Realm,
) -> None:
    with realm.stage.session() as execute:
        execute("select from account where id = %s for key share", realm.member.id)  # as a message on its way does
        execute("set local statement_timeout = '30s'")
        change = partial(realm.owner.request, "PATCH", f"users/{realm.member.id}")
        check_success(later(change, full_name=unique("Another name")).result(10))
        changing = later(change, role=MODERATOR)
        with pytest.raises(TimeoutError):
            changing.result(0.5)
        # As a message does that follows its topic: it is stored before the role changes, without a deadlock.
        execute("select from account where id = %s for no key update", realm.member.id)
    check_success(changing.result(30))


def test_a_user_may_be_named_by_their_address(realm: Realm) -> None:
    check_success(realm.administrator.request("PATCH", f"users/{realm.member.email}", full_name="By Address"))
    assert realm.member.get("users/me")["full_name"] == "By Address"
    check_error(realm.administrator.request("PATCH", "users/nobody@nowhere.example", full_name="By Address"))


def test_a_blank_name_and_the_same_name_change_nothing(realm: Realm) -> None:
    queue = listening(realm.owner)
    before = realm.member.get("users/me")
    for name in ("", "  ", before["full_name"]):
        check_success(realm.administrator.request("PATCH", f"users/{realm.member.id}", full_name=name))
    assert realm.member.get("users/me") == before
    assert people_events(queue) == []


@pytest.mark.parametrize("role", ["moderator", "member", "guest"])
def test_others_change_nobody(realm: Realm, role: str) -> None:
    who: Speaker = getattr(realm, role)
    for target in realm.all:
        check_error(who.request("PATCH", f"users/{target.id}", full_name="Hijacked"))
        assert target.get("users/me")["full_name"] != "Hijacked"


def test_a_bots_owner_changes_its_name_but_not_its_role(realm: Realm) -> None:
    bot = realm.bot(realm.member)
    check_success(realm.member.request("PATCH", f"users/{bot.id}", full_name="My Bot"))
    assert bot.get("users/me")["full_name"] == "My Bot"
    check_error(realm.member.request("PATCH", f"users/{bot.id}", role=300), "UNAUTHORIZED_PRINCIPAL")
    check_error(realm.moderator.request("PATCH", f"users/{bot.id}", full_name="Not Mine"))


def test_users_of_another_organization_do_not_exist(realm: Realm, stage: Stage) -> None:
    elsewhere = stage.user()
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/reactivate")):
        reply = realm.owner.request(method, f"users/{elsewhere.user_id}{path}")
        assert check_error(reply) == "No such user"
    assert elsewhere.user_id not in {one["user_id"] for one in realm.owner.get("users")["members"]}


def test_names_are_unique_only_where_the_organization_says_so(realm: Realm, stage: Stage) -> None:
    path = f"users/{realm.member.id}"
    check_success(realm.owner.request("PATCH", path, full_name="Ｎúria"))
    check_success(realm.owner.request("PATCH", f"users/{realm.guest.id}", full_name="NÚRIA"))
    stage.sql("""update realm set settings = '{"require_unique_names": true}' where id = %s""", realm.id)
    check_error(realm.owner.request("PATCH", f"users/{realm.moderator.id}", full_name="núria"))
    check_error(realm.owner.request("POST", "users", **fresh(full_name="Núria")))


def test_owners_change_addresses_and_each_reader_hears_what_they_may_see(realm: Realm) -> None:
    new = unique("moved").replace(" ", ".") + "@example.com"
    queue = listening(realm.guest)
    check_error(
        realm.administrator.request("PATCH", f"users/{realm.member.id}", new_email=new), "UNAUTHORIZED_PRINCIPAL"
    )
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", new_email=new))
    persons = [event["person"] for event in people_events(queue)]
    assert persons == [
        {"user_id": realm.member.id, "delivery_email": new},
        {"user_id": realm.member.id, "new_email": new},
    ]
    assert realm.owner.get(f"users/{new}")["user"]["user_id"] == realm.member.id
    check_error(realm.member.request("GET", "users/me"), "UNAUTHORIZED", 401)
    check_error(realm.owner.request("PATCH", f"users/{realm.guest.id}", new_email=new.upper()))


# Roles


def test_an_administrator_gives_every_role_but_the_owners(realm: Realm) -> None:
    path = f"users/{realm.member.id}"
    for role in (GUEST, MODERATOR, ADMINISTRATOR, MEMBER):
        check_success(realm.administrator.request("PATCH", path, role=role))
        assert realm.owner.get(path)["user"]["role"] == role
    check_error(realm.administrator.request("PATCH", path, role=OWNER), "UNAUTHORIZED_PRINCIPAL")
    check_error(realm.administrator.request("PATCH", f"users/{realm.owner.id}", role=MEMBER), "UNAUTHORIZED_PRINCIPAL")
    check_success(realm.owner.request("PATCH", path, role=OWNER))
    check_success(realm.owner.request("PATCH", path, role=MEMBER))


@pytest.mark.parametrize("role", ["0", "150", "500", '"400"', "null1"])
def test_there_are_no_other_roles(realm: Realm, role: str) -> None:
    check_error(realm.owner.request("PATCH", f"users/{realm.member.id}", role=role))


def test_everybody_hears_of_a_new_role_and_whose_it_is_begins_anew(realm: Realm) -> None:
    queue, own = listening(realm.guest), listening(realm.member)
    waiting = own.later()
    check_success(realm.administrator.request("PATCH", f"users/{realm.member.id}", role=MODERATOR))
    [changed] = people_events(queue)
    assert (changed["op"], changed["person"]) == ("update", {"user_id": realm.member.id, "role": MODERATOR})
    check_error(waiting.result(20), "BAD_EVENT_QUEUE_ID", queue_id=own.id)
    check_error(own.request(dont_block=True), "BAD_EVENT_QUEUE_ID", queue_id=own.id)
    assert listening(realm.member).state["is_moderator"] is True


def test_the_only_owner_keeps_the_role(realm: Realm) -> None:
    check_error(realm.owner.request("PATCH", f"users/{realm.owner.id}", role=ADMINISTRATOR))
    bot = realm.bot(realm.owner)
    check_success(realm.owner.request("PATCH", f"users/{bot.id}", role=OWNER))
    check_error(realm.owner.request("PATCH", f"users/{realm.owner.id}", role=ADMINISTRATOR))
    second = realm.speaker(OWNER)
    check_success(realm.owner.request("PATCH", f"users/{realm.owner.id}", role=ADMINISTRATOR))
    check_error(second.request("PATCH", f"users/{second.id}", role=MEMBER))


@pytest.mark.parametrize("way", ["PATCH", "DELETE"])
def test_of_two_owners_who_depose_each_other_at_once_one_stays(realm: Realm, way: str) -> None:
    for _ in range(8):
        first, second = realm.speaker(OWNER), realm.speaker(OWNER)
        check_success(first.request("PATCH", f"users/{realm.owner.id}", role=ADMINISTRATOR))
        fields: Json = {"role": MEMBER} if way == "PATCH" else {}
        replies = at_once(
            [
                partial(first.request, way, f"users/{second.id}", **fields),
                partial(second.request, way, f"users/{first.id}", **fields),
            ]
        )
        assert sorted(reply.status_code for reply in replies) in ([200, 400], [200, 401])
        owners = realm.stage.sql("select id from account where realm_id = %s and role = 100 and is_active", realm.id)
        assert len(owners) == 1
        survivor = first if owners[0][0] == first.id else second
        check_success(survivor.request("PATCH", f"users/{realm.owner.id}", role=OWNER))
        check_success(realm.owner.request("PATCH", f"users/{survivor.id}", role=MEMBER))


def test_of_many_owners_who_leave_at_once_one_stays(realm: Realm) -> None:
    owners = [realm.owner, *(realm.speaker(OWNER) for _ in range(5))]
    give_password(realm.stage, *owners)
    replies = at_once([partial(one.request, "DELETE", "users/me", password=PASSWORD) for one in owners])
    assert sorted(reply.status_code for reply in replies) == [200] * 5 + [400]
    refused = next(reply for reply in replies if reply.status_code == 400)
    check_error(refused, "CANNOT_DEACTIVATE_LAST_USER", is_last_owner=True, entity="organization owner")


# Deactivating


def test_a_deactivated_user_is_still_listed_and_everybody_hears_of_it(realm: Realm) -> None:
    queue = listening(realm.guest)
    check_success(realm.administrator.request("DELETE", f"users/{realm.member.id}"))
    assert realm.owner.get(f"users/{realm.member.id}")["user"]["is_active"] is False
    assert realm.member.id in {one["user_id"] for one in realm.owner.get("users")["members"]}
    [changed] = people_events(queue)
    assert (changed["op"], changed["person"]) == ("update", {"user_id": realm.member.id, "is_active": False})
    state = listening(realm.guest).state
    assert realm.member.id in {one["user_id"] for one in state["realm_non_active_users"]}
    assert realm.member.id not in {one["user_id"] for one in state["realm_users"]}
    assert all("is_active" not in one for one in state["realm_users"] + state["realm_non_active_users"])


def test_who_may_deactivate_whom(realm: Realm) -> None:
    for who in (realm.moderator, realm.member, realm.guest):
        check_error(who.request("DELETE", f"users/{realm.member.id}"), "UNAUTHORIZED_PRINCIPAL")
    check_error(realm.administrator.request("DELETE", f"users/{realm.owner.id}"), "UNAUTHORIZED_PRINCIPAL")
    give_password(realm.stage, realm.owner)
    check_error(realm.owner.request("DELETE", f"users/{realm.owner.id}", password=PASSWORD))
    check_error(realm.owner.request("DELETE", f"users/{realm.bot(realm.member).id}"))
    check_success(realm.owner.request("DELETE", f"users/{realm.administrator.id}"))
    assert check_error(realm.owner.request("DELETE", f"users/{realm.administrator.id}")) == "User is deactivated"
    check_error(realm.owner.request("DELETE", f"users/{realm.member.id}", deactivation_notification_comment="x" * 2001))


def test_the_bots_of_a_user_go_first(realm: Realm) -> None:
    queue, bot = listening(realm.owner), realm.bot(realm.member)
    realm.owner.get(f"users/{bot.id}")
    check_success(realm.administrator.request("DELETE", f"users/{realm.member.id}"))
    persons = [event["person"] for event in people_events(queue) if event["op"] == "update"]
    assert persons == [{"user_id": bot.id, "is_active": False}, {"user_id": realm.member.id, "is_active": False}]
    check_error(bot.request("GET", "users/me"), "UNAUTHORIZED", 401)


def test_users_leave_by_themselves_but_not_the_last_one(realm: Realm) -> None:
    give_password(realm.stage, *realm.all)
    check_error(
        realm.owner.request("DELETE", "users/me", password=PASSWORD),
        "CANNOT_DEACTIVATE_LAST_USER",
        is_last_owner=True,
        entity="organization owner",
    )
    check_success(realm.guest.request("DELETE", "users/me", password=PASSWORD))
    check_error(realm.guest.request("GET", "users/me"), "UNAUTHORIZED", 401)
    bot = realm.bot(realm.member)
    check_error(bot.request("DELETE", "users/me"))
    realm.stage.sql("update account set is_active = (id = %s) where realm_id = %s", realm.member.id, realm.id)
    check_error(
        realm.member.request("DELETE", "users/me", password=PASSWORD),
        "CANNOT_DEACTIVATE_LAST_USER",
        is_last_owner=False,
        entity="user",
    )


def test_subscriptions_come_back_with_reactivation(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm.owner, realm_id=realm.id)
    count = "select subscriber_count from channel where id = %s"
    assert stage.sql(count, channel.stream_id) == [(2,)]
    queue = listening(realm.owner, "subscription")
    check_success(realm.administrator.request("DELETE", f"users/{realm.member.id}"))
    assert stage.sql(count, channel.stream_id) == [(1,)]
    check_error(realm.moderator.request("POST", f"users/{realm.member.id}/reactivate"), "UNAUTHORIZED_PRINCIPAL")
    for _ in range(2):
        check_success(realm.administrator.request("POST", f"users/{realm.member.id}/reactivate"))
    assert stage.sql(count, channel.stream_id) == [(2,)]
    assert realm.owner.get(f"users/{realm.member.id}")["user"]["is_active"] is True
    told = [
        (event["op"], event.get("stream_ids"), event.get("user_ids") or event["person"])
        for event in queue.so_far()
        if event["type"] != "message"
    ]
    assert told == [
        ("update", None, {"user_id": realm.member.id, "is_active": False}),
        ("peer_remove", [channel.stream_id], [realm.member.id]),
        ("update", None, {"user_id": realm.member.id, "is_active": True}),
        ("peer_add", [channel.stream_id], [realm.member.id]),
    ]


def test_a_bot_comes_back_to_whoever_brings_it_if_its_owner_is_gone(realm: Realm) -> None:
    bot = realm.bot(realm.member)
    check_success(realm.administrator.request("DELETE", f"users/{realm.member.id}"))
    check_success(realm.administrator.request("POST", f"users/{bot.id}/reactivate"))
    found = realm.owner.get(f"users/{bot.id}")["user"]
    assert (found["is_active"], found["bot_owner_id"]) == (True, realm.administrator.id)


def test_only_an_owner_brings_back_an_owner(realm: Realm) -> None:
    second = realm.speaker(OWNER)
    check_success(realm.owner.request("DELETE", f"users/{second.id}"))
    check_error(realm.administrator.request("POST", f"users/{second.id}/reactivate"), "UNAUTHORIZED_PRINCIPAL")
    check_success(realm.owner.request("POST", f"users/{second.id}/reactivate"))
