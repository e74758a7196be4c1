"""Who sees whose address: in lists, single records, events, messages, and as input."""

from typing import Any

import pytest

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.settings import Settings
from tertulia.people.users.actions import Changes, change_by_directory, tell_visibility
from tertulia.people.users.authentication.actions import as_kind
from tertulia.people.users.authentication.queries import get_owner
from tests.harness.realm import Realm, listening, people_events
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, MODERATOR, OWNER
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

SEEN_BY = {
    1: {OWNER, ADMINISTRATOR, MODERATOR, MEMBER, GUEST},
    2: {OWNER, ADMINISTRATOR, MODERATOR, MEMBER},
    5: {OWNER, ADMINISTRATOR, MODERATOR},
    3: {OWNER, ADMINISTRATOR},
    4: set(),
}


def hide(realm: Realm, speaker: Speaker, visibility: int) -> str:
    """Set the account's visibility as PATCH /settings does; the API address from now on."""

    async def change(tx: Transaction) -> None:
        owner = await get_owner(tx, speaker.id)
        caller = as_kind(owner.caller, Person, Settings())
        sql = """
        update account set settings = settings || jsonb_build_object('email_address_visibility', $2::int) where id = $1
        """
        await tx.execute(sql, speaker.id, visibility)
        await tell_visibility(tx, caller, owner.caller.email_visibility, visibility)

    realm.stage.write(change)
    return speaker.email if visibility == 1 else f"user{speaker.id}@{realm.host}"


def record_of(who: Speaker, target: Speaker, **more: Any) -> Json:
    record: Json = who.get(f"users/{target.id}", **more)["user"]
    return record


@pytest.mark.holds("user.delivery-email", "user.email")
@pytest.mark.parametrize("visibility", list(SEEN_BY))
def test_the_table_of_roles_holds_wherever_users_are_shown(realm: Realm, visibility: int) -> None:
    target = realm.speaker()
    shown = hide(realm, target, visibility)
    for reader, role in zip(realm.all, (OWNER, ADMINISTRATOR, MODERATOR, MEMBER, GUEST), strict=True):
        real = target.email if role in SEEN_BY[visibility] else None
        [one] = reader.get("users", user_ids=[target.id])["members"]
        [listed] = [one for one in reader.get("users")["members"] if one["user_id"] == target.id]
        state = Queue(reader, event_types=[], fetch_event_types=["realm_user"]).state
        [registered] = [one for one in state["realm_users"] if one["user_id"] == target.id]
        for record in (one, listed, registered, record_of(reader, target)):
            assert (record["delivery_email"], record["email"]) == (real, shown)


@pytest.mark.parametrize("visibility", [2, 3, 4, 5])
def test_everybody_sees_their_own_address(realm: Realm, visibility: int) -> None:
    for speaker in (realm.guest, realm.member, realm.owner):
        shown = hide(realm, speaker, visibility)
        own = speaker.get("users/me")
        assert (own["delivery_email"], own["email"]) == (speaker.email, shown)
        for encoding in ("identity", "gzip"):
            everybody = speaker.http.get("users", headers={"Accept-Encoding": encoding}).json()["members"]
            [listed] = [one for one in everybody if one["user_id"] == speaker.id]
            assert (listed["delivery_email"], listed["email"]) == (speaker.email, shown)
        state = Queue(speaker, event_types=[], fetch_event_types=["realm_user"]).state
        assert (state["delivery_email"], state["email"]) == (speaker.email, shown)
        [registered] = [one for one in state["realm_users"] if one["user_id"] == speaker.id]
        assert registered["delivery_email"] == speaker.email


def test_what_one_reader_sees_of_themselves_others_like_them_do_not(realm: Realm) -> None:
    first, second = realm.speaker(), realm.speaker()
    for speaker in (first, second):
        hide(realm, speaker, 4)
    tags = []
    for reader, other in ((first, second), (second, first), (first, second)):
        reply = reader.http.get("users")
        records = {one["user_id"]: one["delivery_email"] for one in reply.json()["members"]}
        assert (records[reader.id], records[other.id]) == (reader.email, None)
        tags.append(reply.headers["etag"])
    assert tags[0] == tags[2] != tags[1]
    assert second.http.get("users", headers={"If-None-Match": tags[0]}).status_code == 200
    assert first.http.get("users", headers={"If-None-Match": tags[0]}).status_code == 304


@pytest.mark.holds("user.delivery-email-bots")
def test_bots_hide_nothing(realm: Realm) -> None:
    bot = realm.bot(realm.member)
    realm.stage.sql("""update account set settings = '{"email_address_visibility": 4}' where id = %s""", bot.id)
    record = record_of(realm.guest, bot)
    assert (record["delivery_email"], record["email"]) == (bot.email, bot.email)


@pytest.mark.parametrize(("old", "new"), [(1, 3), (3, 1), (2, 4), (4, 5)])
def test_each_reader_hears_what_they_may_see(realm: Realm, old: int, new: int) -> None:
    target = realm.speaker()
    hide(realm, target, old)
    queues = [listening(reader) for reader in (*realm.all, target)]
    shown = hide(realm, target, new)
    for queue, role in zip(queues, (OWNER, ADMINISTRATOR, MODERATOR, MEMBER, GUEST, None), strict=True):
        persons = [event["person"] for event in people_events(queue)]
        real = target.email if role is None or role in SEEN_BY[new] else None
        expected: list[Json] = [{"user_id": target.id, "delivery_email": real}]
        if 1 in (old, new):
            expected.append({"user_id": target.id, "new_email": shown})
        assert persons == expected


def test_the_address_of_a_hidden_account_changes_unseen(realm: Realm) -> None:
    target = realm.speaker()
    hide(realm, target, 3)
    queues = {reader.id: listening(reader) for reader in realm.all}
    new = unique("moved").replace(" ", ".") + "@example.com"
    check_success(realm.owner.request("PATCH", f"users/{target.id}", new_email=new))
    for reader in realm.all:
        real = new if reader.user.role in SEEN_BY[3] else None
        assert [event["person"] for event in people_events(queues[reader.id])] == [
            {"user_id": target.id, "delivery_email": real}
        ]


def test_messages_show_the_api_address(realm: Realm) -> None:
    target = realm.speaker()
    shown = hide(realm, target, 4)
    queue = realm.owner.register()
    sent = target.send([realm.owner.id])
    for message in (queue.message_event(sent)["message"], realm.owner.message(sent), target.message(sent)):
        assert message["sender_email"] == shown
        addresses = {person["id"]: person["email"] for person in message["display_recipient"]}
        assert addresses == {target.id: shown, realm.owner.id: realm.owner.email}
    answer = realm.owner.send([target.id])
    assert {person["email"] for person in target.message(answer)["display_recipient"]} == {shown, realm.owner.email}


@pytest.mark.holds("user.email")
def test_a_made_up_address_names_its_user_wherever_an_address_does(realm: Realm) -> None:
    target = realm.speaker()
    shown = hide(realm, target, 3)
    for reader in realm.all:
        for form in (shown, shown.upper()):
            assert reader.get(f"users/{form}")["user"]["user_id"] == target.id
    sent = realm.guest.send([shown])
    assert {person["id"] for person in realm.guest.message(sent)["display_recipient"]} == {target.id, realm.guest.id}
    assert realm.guest.send(shown)
    check_success(realm.administrator.request("PATCH", f"users/{shown}", full_name="Found"))


def test_a_made_up_address_never_names_somebody_whom_a_directory_gave_the_same_one(realm: Realm) -> None:
    target, other = realm.speaker(), realm.speaker()
    shown = hide(realm, target, 4)

    async def take(tx: Transaction) -> None:
        assert await change_by_directory(tx, realm.id, other.id, Changes(email=shown))

    realm.stage.write(take)
    assert realm.member.get(f"users/{shown}")["user"]["user_id"] == target.id
    sent = check_success(realm.member.request("POST", "messages", type="direct", to=[shown], content="Between us"))
    people = {one["id"] for one in realm.member.message(sent["id"])["display_recipient"]}
    assert people == {realm.member.id, target.id}
    channel = unique("channel")
    check_success(
        realm.member.request(
            "POST", "users/me/subscriptions", subscriptions=[{"name": channel}], principals=[shown], invite_only=True
        )
    )
    assert channel in {one["name"] for one in target.get("users/me/subscriptions")["subscriptions"]}


def test_a_hidden_address_names_nobody_to_those_who_do_not_see_it(realm: Realm) -> None:
    target = realm.speaker()
    shown = hide(realm, target, 3)
    assert realm.owner.get(f"users/{target.email}")["user"]["user_id"] == target.id
    assert realm.owner.send([target.email])
    check_error(realm.member.request("GET", f"users/{target.email}"))
    for to in ([target.email], [shown, target.email]):
        check_error(realm.member.request("POST", "messages", type="direct", to=to, content="Hi"))


def test_made_up_addresses_of_other_organizations_and_of_nobody_name_nobody(realm: Realm) -> None:
    for email in (
        f"user{realm.member.id}@elsewhere.example",
        f"user999999999@{realm.host}",
        f"user{10**30}@{realm.host}",
        f"user0@{realm.host}",
    ):
        check_error(realm.owner.request("GET", f"users/{email}"))
        check_error(realm.owner.request("POST", "messages", type="direct", to=[email], content="Hi"))


def test_the_made_up_address_does_not_log_in(realm: Realm) -> None:
    target = realm.speaker()
    shown = hide(realm, target, 3)
    check_error(target.http.get("users/me", auth=(shown, target.user.api_key)), "UNAUTHORIZED", 401)
    assert target.get("users/me")["user_id"] == target.id
