"""The user record (protocol/records.md#user)."""

import re

import httpx
import pytest

from tests.harness.server import Server
from tests.harness.talk import Json, Speaker, check_success, unique

FIELDS: dict[str, tuple[type, ...]] = {
    "user_id": (int,),
    "delivery_email": (str, type(None)),
    "email": (str,),
    "full_name": (str,),
    "date_joined": (str,),
    "is_active": (bool,),
    "is_owner": (bool,),
    "is_admin": (bool,),
    "is_guest": (bool,),
    "is_bot": (bool,),
    "bot_type": (int, type(None)),
    "role": (int,),
    "timezone": (str,),
    "avatar_url": (str, type(None)),
    "avatar_version": (int,),
    "is_imported_stub": (bool,),
}
ROLES = {100: (True, True, False), 200: (False, True, False), 300: (False, False, False), 400: (False, False, False)}
ROLES[600] = (False, False, True)


@pytest.fixture(scope="module")
def everybody(cast: object, server: Server) -> dict[int, Json]:
    """All records, as the owner sees them."""
    with server.client(server.owner) as client:
        reply = client.get("users", params={"include_custom_profile_fields": "true"})
    return {record["user_id"]: record for record in reply.json()["members"]}


@pytest.mark.holds(
    "user.user-id",
    "user.full-name",
    "user.is-active",
    "user.is-owner",
    "user.is-admin",
    "user.is-guest",
    "user.is-bot",
    "user.timezone",
    "user.avatar-version",
    "user.imported-stub",
    "user.delivery-email",
    "user.email",
)
def test_every_field_is_there_with_its_type_and_no_other(everybody: dict[int, Json]) -> None:
    for record in everybody.values():
        more = {"bot_owner_id"} if record["is_bot"] else {"profile_data"}
        assert record.keys() == FIELDS.keys() | more
        for name, types in FIELDS.items():
            assert type(record[name]) in types, name


@pytest.mark.holds("user.delivery-email", "user.email")
def test_the_real_address_is_there_for_whoever_may_see_it(everybody: dict[int, Json], server: Server) -> None:
    for user in server.ready.users:
        assert everybody[user.user_id]["delivery_email"] == everybody[user.user_id]["email"] == user.email


@pytest.mark.holds("user.role", "user.is-owner", "user.is-admin", "user.is-guest")
def test_the_role_and_its_words_agree(everybody: dict[int, Json]) -> None:
    assert {record["role"] for record in everybody.values()} >= set(ROLES)
    for record in everybody.values():
        assert (record["is_owner"], record["is_admin"], record["is_guest"]) == ROLES[record["role"]]


@pytest.mark.holds("user.bot-type", "user.is-bot")
def test_a_person_is_no_bot_and_has_no_type_or_owner(everybody: dict[int, Json], member: Speaker) -> None:
    record = everybody[member.id]
    assert (record["is_bot"], record["bot_type"]) == (False, None)
    assert "bot_owner_id" not in record


@pytest.mark.holds("user.bot-type", "user.bot-owner", "user.delivery-email-bots")
def test_a_bot_has_a_type_an_owner_and_always_its_real_address(everybody: dict[int, Json], bot: Speaker) -> None:
    record = everybody[bot.id]
    assert (record["is_bot"], record["bot_type"], record["delivery_email"]) == (True, 1, bot.email)
    assert isinstance(record["bot_owner_id"], int)


@pytest.mark.holds("user.bot-type")
@pytest.mark.parametrize(("bot_type", "more"), [(1, {}), (2, {}), (3, {"payload_url": "https://bots.example.com/"})])
def test_a_bot_s_type_says_what_it_is_for(member: Speaker, newcomer: Speaker, bot_type: int, more: Json) -> None:
    name = unique("typed").replace(" ", "-")
    made = newcomer.post("bots", full_name=name, short_name=name, bot_type=bot_type, **more)["user_id"]
    assert member.get(f"users/{made}")["user"]["bot_type"] == bot_type


@pytest.mark.holds("user.is-active", "user.timezone", "user.full-name")
def test_a_deactivated_account_is_not_active_and_keeps_its_record(owner: Speaker, newcomer: Speaker) -> None:
    check_success(newcomer.request("PATCH", "settings", timezone="Europe/Madrid", full_name="Sleepy Head"))
    before = owner.get(f"users/{newcomer.id}")["user"]
    assert (before["is_active"], before["timezone"], before["full_name"]) == (True, "Europe/Madrid", "Sleepy Head")
    owner.delete(f"users/{newcomer.id}")
    assert owner.get(f"users/{newcomer.id}")["user"] == before | {"is_active": False}


@pytest.mark.holds("user.date-joined")
def test_the_time_of_joining_has_minutes_in_utc(everybody: dict[int, Json]) -> None:
    for record in everybody.values():
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00", record["date_joined"])


@pytest.mark.holds("user.avatar-version", "user.avatar-url")
def test_the_address_of_an_avatar_ends_in_its_version(everybody: dict[int, Json]) -> None:
    for record in everybody.values():
        assert record["avatar_url"].endswith(f"?v={record['avatar_version']}")
        assert record["avatar_version"] >= 1


@pytest.mark.holds("user.avatar-url")
def test_avatars_are_pictures_that_may_be_kept(
    everybody: dict[int, Json], server: Server, member: Speaker, other: Speaker
) -> None:
    url = everybody[member.id]["avatar_url"]
    reply = httpx.get(server.url + url, trust_env=False)
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("image/")
    assert "immutable" in reply.headers["cache-control"]
    assert reply.content == httpx.get(server.url + url, trust_env=False).content
    assert reply.content != httpx.get(server.url + f"/avatar/{other.id}", trust_env=False).content
    assert httpx.get(server.url + f"/avatar/{member.id}/medium", trust_env=False).status_code == 200


@pytest.mark.holds("user.avatar-url", "users.client-gravatar")
@pytest.mark.parametrize("asked", [True, False])
def test_our_own_avatars_are_never_left_to_the_client(member: Speaker, asked: bool) -> None:
    for record in member.get("users", client_gravatar=asked)["members"]:
        assert record["avatar_url"] is not None


@pytest.mark.holds("user.profile-data-people", "user.profile-data-asked", "users.profile-fields")
def test_profile_data_is_there_for_people_only_and_only_if_asked_for(member: Speaker) -> None:
    for record in member.get("users")["members"]:
        assert "profile_data" not in record
    for record in member.get("users", include_custom_profile_fields=True)["members"]:
        assert ("profile_data" in record) is not record["is_bot"]
        for field, value in record.get("profile_data", {}).items():
            assert re.fullmatch("[0-9]+", field)
            assert isinstance(value["value"], str)
            assert value.keys() <= {"value", "rendered_value"}
