"""What awaits whoever joins: default channels, and a word about them; what people hear who are put into a group."""

from functools import partial

from tests.contract.groups import make_group
from tests.harness.command import tertulia
from tests.harness.passwords import PASSWORD as OWN
from tests.harness.passwords import give_password
from tests.harness.realm import Realm
from tests.harness.server import MEMBER, User
from tests.harness.stage import at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

PASSWORD = "seven copper kettles sing"


def address() -> str:
    return unique("new").replace(" ", ".") + "@example.com"


def subscribers(speaker: Speaker, channel_id: int) -> set[int]:
    state = Queue(speaker, event_types=[], fetch_event_types=["subscription"], include_subscribers="true").state
    [found] = [one for one in state["subscriptions"] if one["stream_id"] == channel_id]
    return set(found["subscribers"])


def test_new_people_are_subscribed_to_the_default_channels(realm: Realm) -> None:
    default, other = (realm.stage.channel(realm.owner, realm_id=realm.id) for _ in range(2))
    sql = "insert into default_channel (channel_id, realm_id) values (%s, %s)"
    realm.stage.sql(sql, default.stream_id, realm.id)
    check_success(realm.owner.request("PATCH", "realm", signup_announcements_stream_id=default.stream_id))
    types = ["realm_user", "subscription", "message"]
    with Queue(realm.owner, event_types=types, fetch_event_types=[]) as queue:
        new = realm.owner.post("users", email=address(), password=PASSWORD, full_name="Ada")["user_id"]
        events = queue.until(lambda event: event["type"] == "message")
    assert [event.get("op") for event in events] == ["add", "peer_add", None]
    message = events[-1]["message"]
    assert (message["stream_id"], message["subject"]) == (default.stream_id, "signups")
    assert "Ada" in message["content"]
    assert subscribers(realm.owner, default.stream_id) == {realm.owner.id, new}
    assert subscribers(realm.owner, other.stream_id) == {realm.owner.id}


def test_new_people_are_told_what_the_organization_says_to_all_of_them(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", "realm", welcome_message_custom_text="Read **this** first. "))
    email = address()
    realm.owner.post("users", email=email, password=PASSWORD, full_name="Ada")
    key = realm.stage.nobody(host=realm.host).post("fetch_api_key", username=email, password=PASSWORD)
    ada = realm.as_user(User(key["user_id"], email, PASSWORD, key["api_key"], MEMBER))
    [message] = notices_to(ada)
    assert message["content"] == "<p>Read <strong>this</strong> first.</p>"


def test_the_command_line_welcomes_people_too_but_not_guests(realm: Realm) -> None:
    default = realm.stage.channel(realm.owner, realm_id=realm.id)
    realm.stage.sql("insert into default_channel (channel_id, realm_id) values (%s, %s)", default.stream_id, realm.id)
    env = {"TERTULIA_POSTGRES_URL": realm.stage.server.postgres_url, "TERTULIA_USER_PASSWORD": PASSWORD}
    made = []
    for role in ("member", "guest"):
        names = ["--name", "Ada", "--role", role, "--realm", realm.subdomain]
        made.append(int(tertulia("user", "create", address(), *names, env=env).stdout))
    assert subscribers(realm.owner, default.stream_id) == {realm.owner.id, made[0]}


def notices_to(speaker: Speaker) -> list[Json]:
    found = speaker.window(before=20)["messages"]
    return [message for message in found if message["sender_full_name"] == "Notification Bot"]


def test_people_are_told_that_somebody_put_them_into_a_group_or_took_them_out(realm: Realm) -> None:
    group_id, bot = make_group(realm.owner, name=unique("tea")), realm.bot(realm.owner)
    path = f"user_groups/{group_id}/members"
    realm.owner.post(path, add=[realm.owner.id, realm.member.id, bot.id])
    realm.owner.post(path, delete=[realm.owner.id, realm.member.id], add=[realm.moderator.id])
    assert ["added you to" in one["content"] for one in notices_to(realm.member)] == [True, False]
    assert len(notices_to(realm.moderator)) == 1
    assert notices_to(realm.owner) == notices_to(bot) == []


def test_of_two_last_people_who_go_at_once_one_stays(realm: Realm) -> None:
    for one in realm.all[1:]:
        realm.owner.delete(f"users/{one.id}")
    leave = {"method": "DELETE", "path": "users/me", "password": OWN}
    for _ in range(3):  # with other people each time: the keys of who has left have ended
        first, second = realm.speaker(), realm.speaker()
        give_password(realm.stage, first, second)
        others = "update account set is_active = false where realm_id = %s and bot_type is null and id <> all(%s)"
        realm.stage.sql(others, realm.id, [first.id, second.id])
        done = at_once([partial(one.request, **leave) for one in (first, second)])
        assert sorted(reply.status_code for reply in done) == [200, 400]
        refused = next(reply for reply in done if reply.status_code == 400)
        check_error(refused, "CANNOT_DEACTIVATE_LAST_USER", is_last_owner=False, entity="user")


def test_a_deactivated_part_of_a_group_that_is_back_in_use_gives_nothing(realm: Realm) -> None:
    part = make_group(realm.owner, [realm.member.id])
    whole = make_group(realm.owner, [realm.guest.id], subgroups=[part])
    value = {"new": {"direct_members": [], "direct_subgroups": [whole]}}
    for group_id in (whole, part):
        realm.owner.post(f"user_groups/{group_id}/deactivate")
    check_success(realm.owner.request("PATCH", f"user_groups/{whole}", deactivated=False))
    check_success(realm.owner.request("PATCH", "realm", can_create_groups=value))
    assert realm.owner.get(f"user_groups/{whole}/members")["members"] == [realm.guest.id]
    check_error(realm.member.request("POST", "user_groups/create", name=unique("x"), description="", members=[]))
    check_success(realm.owner.request("PATCH", f"user_groups/{part}", deactivated=False))
    assert realm.owner.get(f"user_groups/{whole}/members")["members"] == sorted([realm.guest.id, realm.member.id])
    make_group(realm.member)
