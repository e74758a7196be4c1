"""SCIM: an identity provider keeps people, within the rules that hold for administrators, and reaches less than they do."""

from collections.abc import Iterator
from functools import partial

import pytest

from tests.harness.realm import Realm, listening, people_events
from tests.harness.scim import USER, Directory, address, refused, success
from tests.harness.server import ADMINISTRATOR, OWNER
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, check_success, unique

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


@pytest.fixture
def directory(realm: Realm) -> Iterator[Directory]:
    one = Directory.of(realm)
    yield one
    one.http.close()


def user_of(realm: Realm, resource: Json) -> Json:
    """What the API shows to an owner of a person that the directory has made."""
    user: Json = realm.owner.get(f"users/{resource['id']}")["user"]
    return user


def test_a_person_whom_the_directory_makes_is_a_member_with_that_name_and_address(
    realm: Realm, directory: Directory
) -> None:
    with listening(realm.member) as queue:
        made = directory.make_user(
            name := address(),
            name={"givenName": "Ada", "familyName": "Byron"},
            externalId="00u1",
            emails=[{"value": name, "type": "work", "primary": True}],
            title="Countess",
            **{ENTERPRISE: {"department": "Engines"}},
        )
        [told] = people_events(queue)
    assert (told["op"], told["person"]["full_name"]) == ("add", "Ada Byron")
    user = user_of(realm, made)
    assert (user["delivery_email"], user["full_name"], user["role"]) == (name, "Ada Byron", 400)
    assert made["schemas"] == [USER]
    assert (made["userName"], made["externalId"], made["active"]) == (name, "00u1", True)
    assert made["meta"]["location"].endswith(f"/scim/v2/Users/{made['id']}")
    assert directory.get(f"/Users/{made['id']}") == made
    assert directory.find("Users", 'externalId eq "00u1"') == [made]


def test_a_person_needs_no_more_than_a_user_name_that_is_an_address(realm: Realm, directory: Directory) -> None:
    made = directory.make_user("grace@example.com")
    assert made["displayName"] == "grace"
    assert made["emails"] == [{"value": "grace@example.com", "type": "work", "primary": True}]


def test_a_user_name_may_be_another_than_the_address(realm: Realm, directory: Directory) -> None:
    name, mail = f"{unique('upn')}@tenant.example".replace(" ", "-"), address()
    made = directory.make_user(name, emails=[{"value": "old@example.com"}, {"value": mail, "primary": True}])
    assert user_of(realm, made)["delivery_email"] == mail
    assert made["userName"] == name
    assert [one["id"] for one in directory.find("Users", f'userName eq "{name.upper()}"')] == [made["id"]]
    assert directory.find("Users", f'userName eq "{mail}"') == []
    assert [one["id"] for one in directory.find("Users", f'emails.value eq "{mail}"')] == [made["id"]]
    refused(directory.request("POST", "/Users", {"userName": "no-address"}), 400, "invalidValue")


def test_a_name_or_address_that_somebody_has_is_a_conflict(realm: Realm, directory: Directory) -> None:
    taken = directory.make_user()["userName"]
    for body in (
        {"userName": taken},
        {"userName": taken.upper()},
        {"userName": taken, "emails": [{"value": address()}]},
        {"userName": address(), "emails": [{"value": taken}]},
        {"userName": realm.member.email},
    ):
        refused(directory.request("POST", "/Users", body), 409, "uniqueness")


def test_of_two_who_make_the_same_person_at_once_one_does(realm: Realm, directory: Directory) -> None:
    other = Directory.of(realm)
    for with_addresses in (False, True) * 3:
        name = address()
        emails = [{"emails": [{"value": address()}]} if with_addresses else {} for _ in range(2)]
        works = [
            partial(one.request, "POST", "/Users", {"userName": name} | sent)
            for one, sent in zip((directory, other), emails, strict=True)
        ]
        replies = at_once(works)
        assert sorted(reply.status_code for reply in replies) == [201, 409]
        refused(max(replies, key=lambda reply: reply.status_code), 409, "uniqueness")
    other.http.close()


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "Replace", "path": "active", "value": "False"},
        {"op": "replace", "path": "active", "value": False},
        {"op": "replace", "value": {"active": False}},
        {"op": "Add", "path": "urn:ietf:params:scim:schemas:core:2.0:User:active", "value": "false"},
    ],
)
def test_every_way_to_deactivate_somebody_ends_their_access(
    realm: Realm, directory: Directory, operation: Json
) -> None:
    leaver = realm.speaker()
    bot = realm.bot(leaver)
    with listening(realm.owner) as queue:
        shown = success(directory.patch(f"/Users/{leaver.id}", operation))
        told = people_events(queue)
    assert shown["active"] is False
    assert {(one["person"]["user_id"], one["person"].get("is_active")) for one in told} == {
        (leaver.id, False),
        (bot.id, False),
    }
    for gone in (leaver, bot):
        assert gone.request("GET", "users/me").status_code == 401
    assert user_of(realm, {"id": leaver.id})["is_active"] is False
    assert success(directory.patch(f"/Users/{leaver.id}", {"op": "replace", "path": "active", "value": "True"}))[
        "active"
    ]
    assert user_of(realm, {"id": leaver.id})["is_active"] is True
    assert leaver.request("GET", "users/me").status_code == 401, "keys do not come back"


def test_the_changes_that_providers_send_change_the_account(realm: Realm, directory: Directory) -> None:
    made = directory.make_user(first := address(), name={"givenName": "Ada", "familyName": "Byron"})
    path = f"/Users/{made['id']}"
    married = success(directory.patch(path, {"op": "Replace", "path": "name.familyName", "value": "King"}))
    assert married["displayName"] == "Ada King", "the name was put together of its parts, and still is"
    mail = address()
    moved = success(directory.patch(path, {"op": "Replace", "path": 'emails[type eq "work"].value', "value": mail}))
    assert (moved["emails"][0]["value"], moved["userName"]) == (mail, first)
    shown = success(directory.patch(path, {"op": "Replace", "value": {"displayName": "Lady Lovelace"}}))
    assert shown["displayName"] == "Lady Lovelace"
    kept = success(directory.patch(path, {"op": "Add", "path": "name.formatted", "value": "Ada King, Countess"}))
    assert kept["displayName"] == "Lady Lovelace", "the provider has another name for others to see"
    assert kept["name"]["formatted"] == "Ada King, Countess"
    for unknown in (
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Engines"},
        {"op": "Add", "path": 'phoneNumbers[type eq "work"].value', "value": "+1 555"},
        {"op": "Replace", "path": "title", "value": "Countess"},
    ):
        assert success(directory.patch(path, unknown))["meta"]["version"] == kept["meta"]["version"]
    user = user_of(realm, made)
    assert (user["full_name"], user["delivery_email"]) == ("Lady Lovelace", mail)


def test_the_address_follows_the_user_name_as_long_as_it_is_the_same(realm: Realm, directory: Directory) -> None:
    made = directory.make_user()
    second = address()
    path = f"/Users/{made['id']}"
    success(directory.patch(path, {"op": "replace", "path": "userName", "value": second}))
    assert user_of(realm, made)["delivery_email"] == second
    third = address()
    body = {"schemas": [USER], "userName": third, "displayName": "Third", "active": True}
    assert success(directory.request("PUT", path, body))["emails"][0]["value"] == third
    body |= {"emails": [{"value": second}]}
    put = success(directory.request("PUT", path, body))
    assert (put["userName"], put["emails"][0]["value"]) == (third, second)


def test_a_put_without_active_leaves_it(realm: Realm, directory: Directory) -> None:
    made = directory.make_user(externalId="7", active=False)
    assert made["active"] is False
    body = {"schemas": [USER], "userName": made["userName"], "displayName": "Somebody Else"}
    put = success(directory.request("PUT", f"/Users/{made['id']}", body))
    assert (put["active"], put["displayName"]) == (False, "Somebody Else")
    assert "externalId" not in put


def test_somebody_who_is_deleted_is_gone_and_comes_back_when_made_again(realm: Realm, directory: Directory) -> None:
    made = directory.make_user()
    assert directory.request("DELETE", f"/Users/{made['id']}").status_code == 204
    assert user_of(realm, made)["is_active"] is False
    refused(directory.request("GET", f"/Users/{made['id']}"), 404)
    refused(directory.request("DELETE", f"/Users/{made['id']}"), 404)
    assert directory.find("Users", f'userName eq "{made["userName"]}"') == []
    again = directory.make_user(made["userName"], displayName="Back Again")
    assert again["id"] == made["id"]
    user = user_of(realm, made)
    assert (user["is_active"], user["full_name"]) == (True, "Back Again")


def test_who_was_deleted_and_brought_back_by_an_administrator_is_seen_again(realm: Realm, directory: Directory) -> None:
    made = directory.make_user()
    directory.request("DELETE", f"/Users/{made['id']}")
    realm.administrator.post(f"users/{made['id']}/reactivate")
    assert directory.get(f"/Users/{made['id']}")["active"] is True


def test_accounts_that_people_made_are_found_and_kept(realm: Realm, directory: Directory) -> None:
    [found] = directory.find("Users", f'userName eq "{realm.member.email}"')
    assert found["id"] == str(realm.member.id)
    linked = success(directory.patch(f"/Users/{found['id']}", {"op": "add", "path": "externalId", "value": "x1"}))
    assert linked["externalId"] == "x1"
    assert realm.member.get("users/me")["user_id"] == realm.member.id


def test_owners_are_neither_deactivated_nor_moved_to_another_address(realm: Realm, directory: Directory) -> None:
    realm.speaker(OWNER)
    path = f"/Users/{realm.owner.id}"
    refused(directory.patch(path, {"op": "replace", "path": "active", "value": False}), 403)
    refused(directory.request("DELETE", path), 403)
    for address_of in (realm.owner, realm.administrator):
        moved = {"op": "replace", "path": "emails", "value": [{"value": address(), "primary": True}]}
        refused(directory.patch(f"/Users/{address_of.id}", moved), 403)
    assert realm.owner.get("users/me")["role"] == OWNER
    success(directory.patch(path, {"op": "replace", "path": "roles", "value": [{"value": "member"}]}))
    success(directory.patch(f"/Users/{realm.member.id}", {"op": "add", "path": "roles", "value": [{"value": "owner"}]}))
    assert (realm.owner.get("users/me")["role"], realm.member.get("users/me")["role"]) == (OWNER, 400)


def test_an_owner_who_is_deactivated_is_not_brought_back(realm: Realm, directory: Directory) -> None:
    other = realm.speaker(OWNER)
    check_success(realm.owner.request("DELETE", f"users/{other.id}"))
    refused(directory.patch(f"/Users/{other.id}", {"op": "replace", "path": "active", "value": True}), 403)


def test_administrators_are_deactivated_as_by_another_administrator(realm: Realm, directory: Directory) -> None:
    other = realm.speaker(ADMINISTRATOR)
    success(directory.patch(f"/Users/{other.id}", {"op": "replace", "path": "active", "value": False}))
    assert user_of(realm, {"id": other.id})["is_active"] is False


def test_bots_and_other_organizations_look_like_what_does_not_exist(
    realm: Realm, directory: Directory, stage: Stage
) -> None:
    elsewhere = Realm(stage)
    bot = realm.bot(realm.member)
    [(system_bot,)] = stage.sql("select id from account where realm_id = %s and system_bot is not null", realm.id)
    absent = refused(directory.request("GET", "/Users/999999999"), 404)
    body = {"schemas": [USER], "userName": address(), "displayName": "Taken Over"}
    for id in (bot.id, system_bot, elsewhere.member.id, "007", "x", "9" * 40, f"0{realm.member.id}"):
        path = f"/Users/{id}"
        assert refused(directory.request("GET", path), 404) == absent
        assert refused(directory.request("PUT", path, body), 404) == absent
        assert refused(directory.patch(path, {"op": "replace", "path": "active", "value": False}), 404) == absent
        assert refused(directory.request("DELETE", path), 404) == absent
    listed = {one["id"] for one in directory.get("/Users")["Resources"]}
    assert listed == {str(one.id) for one in realm.all}
    assert directory.find("Users", f'userName eq "{bot.email}" or userName eq "{elsewhere.member.email}"') == []


def test_the_rules_for_names_and_addresses_hold(realm: Realm, directory: Directory) -> None:
    made = directory.make_user()
    for attributes in (
        {"displayName": "Notification Bot"},
        {"displayName": "Ada **Byron**"},
        {"displayName": "A\u202eda"},
        {"displayName": "x" * 101},
        {"userName": "not an address"},
        {"externalId": "a\u0007b"},
    ):
        body = {"schemas": [USER], "userName": address(), **attributes}
        refused(directory.request("POST", "/Users", body), 400, "invalidValue")
        body = {"userName": made["userName"], "displayName": "Fine", **attributes}
        if "userName" not in attributes:
            refused(directory.request("PUT", f"/Users/{made['id']}", body), 400, "invalidValue")
    realm.owner.post("realm/domains", domain="example.org", allow_subdomains=True)
    check_success(realm.owner.request("PATCH", "realm", emails_restricted_to_domains=True))
    refused(directory.request("POST", "/Users", {"userName": address()}), 400, "invalidValue")
    refused(
        directory.patch(f"/Users/{made['id']}", {"op": "replace", "path": "userName", "value": address()}),
        400,
        "invalidValue",
    )
    assert directory.make_user(f"{unique('in').replace(' ', '')}@example.org")["active"]
    check_success(realm.owner.request("PATCH", "realm", require_unique_names=True))
    body = {"userName": f"{unique('two').replace(' ', '')}@example.org", "displayName": made["displayName"]}
    refused(directory.request("POST", "/Users", body), 409, "uniqueness")


def test_newcomers_join_the_default_channels(realm: Realm, directory: Directory, stage: Stage) -> None:
    channel = stage.channel(realm.owner, realm_id=realm.id)
    realm.owner.post("default_streams", stream_id=channel.stream_id)
    made = directory.make_user()
    assert int(made["id"]) in realm.owner.get(f"streams/{channel.stream_id}/members")["subscribers"]


def test_the_audit_log_says_which_token_did_it(realm: Realm, directory: Directory, stage: Stage) -> None:
    [(token_id,)] = stage.sql("select id from scim_token where realm_id = %s", realm.id)
    made = directory.make_user(displayName="Ada Byron")
    directory.patch(f"/Users/{made['id']}", {"op": "replace", "path": "active", "value": False})
    entries = realm.owner.get("audit_log", target_type="user", target_id=int(made["id"]))["entries"]
    assert [entry["act"] for entry in entries] == ["user.deactivated", "user.created"]
    assert all(entry["changes"]["by_scim_token"] == [None, token_id] for entry in entries)
