"""SCIM: an identity provider keeps groups."""

from collections.abc import Iterator

import pytest

from tertulia.integrations.scim.groups.rules import MAX_LISTED_MEMBERS
from tests.harness.realm import Realm
from tests.harness.scim import GROUP, Directory, refused, success
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, check_success, unique

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


def test_a_group_of_the_directory_is_a_group_of_the_organization(realm: Realm, directory: Directory) -> None:
    member = str(realm.member.id)
    with Queue(realm.owner, event_types=["user_group"]) as queue:
        made = directory.make_group(unique("crew"), member, externalId="g1")
        [told] = queue.until(lambda event: event["type"] == "user_group")
    assert (told["op"], told["group"]["members"], told["group"]["creator_id"]) == ("add", [realm.member.id], None)
    assert made["schemas"] == [GROUP]
    assert [one["value"] for one in made["members"]] == [member]
    assert directory.get(f"/Groups/{made['id']}") == made
    assert directory.find("Groups", 'externalId eq "g1"') == [made]
    assert directory.find("Groups", f'displayName eq "{made["displayName"]}"') == [made]
    assert directory.find("Groups", f'id eq "{made["id"]}" and members eq "{member}"') == [made]
    assert directory.find("Groups", f'members[value eq "{realm.guest.id}"]') == []
    short = directory.get(f"/Groups/{made['id']}", excludedAttributes="members")
    assert "members" not in short


@pytest.mark.parametrize("style", ["Okta", "Entra"])
def test_members_come_and_go_as_providers_say_it(realm: Realm, directory: Directory, style: str) -> None:
    one, two, three = (str(person.id) for person in (realm.member, realm.guest, realm.owner))
    made = directory.make_group(unique("crew"), one)
    path = f"/Groups/{made['id']}"
    add = {"op": "add" if style == "Okta" else "Add", "path": "members", "value": [{"value": two}, {"value": one}]}
    with Queue(realm.owner, event_types=["user_group"]) as queue:
        assert directory.patch(path, add).status_code == 204
        [told] = queue.until(lambda event: event["type"] == "user_group")
    assert (told["op"], told["user_ids"]) == ("add_members", [realm.guest.id])
    assert directory.members(made["id"]) == {one, two}
    remove: Json = {"op": "remove", "path": f'members[value eq "{one}"]'}
    if style == "Entra":
        remove = {"op": "Remove", "path": "members", "value": [{"value": one}]}
    for _ in range(2):
        assert directory.patch(path, remove).status_code == 204, "who is not in it need not be removed"
    assert directory.members(made["id"]) == {two}
    several = f'members[value eq "{two}" or value eq "{one}"]'
    assert directory.patch(path, {"op": "remove", "path": several}, add).status_code == 204
    assert directory.members(made["id"]) == {one, two}, "one operation after the other"
    assert directory.patch(path, {"op": "replace", "value": {"members": [{"value": three}]}}).status_code == 204
    assert directory.members(made["id"]) == {three}
    assert directory.patch(path, {"op": "remove", "path": "members"}).status_code == 204
    assert directory.members(made["id"]) == set()


def test_a_group_is_renamed_and_replaced(realm: Realm, directory: Directory) -> None:
    made = directory.make_group(unique("crew"), str(realm.member.id), externalId="old")
    path = f"/Groups/{made['id']}"
    name = unique("band")
    renamed = {"op": "replace", "value": {"id": made["id"], "displayName": name}}
    assert success(directory.patch(path, renamed, params={"attributes": "displayName"}))["displayName"] == name
    body = {"schemas": [GROUP], "displayName": name, "members": [{"value": str(realm.guest.id)}]}
    put = success(directory.request("PUT", path, body))
    assert [one["value"] for one in put["members"]] == [str(realm.guest.id)]
    assert "externalId" not in put
    other = directory.make_group(unique("other"))
    taken = {"op": "replace", "path": "displayName", "value": name}
    refused(directory.patch(f"/Groups/{other['id']}", taken), 409, "uniqueness")
    refused(directory.request("POST", "/Groups", {"displayName": name}), 409, "uniqueness")
    refused(directory.request("POST", "/Groups", {"displayName": "role:owners"}), 400, "invalidValue")


def test_bots_and_subgroups_stay_in_a_group_whatever_the_directory_writes(realm: Realm, directory: Directory) -> None:
    bot = realm.bot(realm.owner)
    below = directory.make_group(unique("below"))
    made = directory.make_group(unique("crew"), str(realm.member.id))
    edit = {"add": [bot.id], "add_subgroups": [int(below["id"])]}
    check_success(realm.owner.request("POST", f"user_groups/{made['id']}/members", **edit))
    assert directory.members(made["id"]) == {str(realm.member.id)}
    body = {"schemas": [GROUP], "displayName": made["displayName"], "members": []}
    success(directory.request("PUT", f"/Groups/{made['id']}", body))
    left = realm.owner.get(f"user_groups/{made['id']}/members", direct_member_only=True)["members"]
    assert left == [bot.id]
    for outsider in (bot.id, "999999999", "x"):
        add = {"op": "add", "path": "members", "value": [{"value": str(outsider)}]}
        refused(directory.patch(f"/Groups/{made['id']}", add), 400, "invalidValue")


def test_who_left_a_group_while_deactivated_does_not_come_back_to_it(realm: Realm, directory: Directory) -> None:
    one, two = directory.make_user(), directory.make_user()
    made = directory.make_group(unique("crew"), one["id"])
    for person in (one, two):
        directory.patch(f"/Users/{person['id']}", {"op": "replace", "path": "active", "value": False})
    operations = (
        {"op": "remove", "path": f'members[value eq "{one["id"]}"]'},
        {"op": "add", "path": "members", "value": [{"value": two["id"]}]},
    )
    assert directory.patch(f"/Groups/{made['id']}", *operations).status_code == 204
    assert directory.members(made["id"]) == {two["id"]}
    members = f"user_groups/{made['id']}/members"
    assert realm.owner.get(members)["members"] == []
    for person in (one, two):
        directory.patch(f"/Users/{person['id']}", {"op": "replace", "path": "active", "value": True})
    assert realm.owner.get(members)["members"] == [int(two["id"])]


def test_system_groups_and_those_of_others_look_like_what_does_not_exist(
    realm: Realm, directory: Directory, stage: Stage
) -> None:
    elsewhere = Realm(stage)
    there = Directory.of(elsewhere)
    other = there.make_group(unique("there"))
    [(system,)] = stage.sql("select id from user_group where realm_id = %s and name = 'role:owners'", realm.id)
    absent = refused(directory.request("GET", "/Groups/999999999"), 404)
    add = {"op": "add", "path": "members", "value": [{"value": str(realm.member.id)}]}
    for id in (system, other["id"], "x"):
        path = f"/Groups/{id}"
        assert refused(directory.request("GET", path), 404) == absent
        assert refused(directory.patch(path, add), 404) == absent
        assert refused(directory.request("PUT", path, {"displayName": "mine"}), 404) == absent
        assert refused(directory.request("DELETE", path), 404) == absent
    assert directory.get("/Groups")["totalResults"] == 0
    outsider = {"op": "add", "path": "members", "value": [{"value": str(realm.member.id)}]}
    refused(there.patch(f"/Groups/{other['id']}", outsider), 400, "invalidValue")
    there.http.close()


def test_a_page_has_fewer_groups_where_they_have_very_many_members(
    realm: Realm, directory: Directory, stage: Stage
) -> None:
    """Nobody else is answered while a page is put together. Whoever goes on where it ended gets each group once."""
    people, groups = 300, 200
    stage.sql(
        "insert into account (realm_id, email, email_key, full_name, role) "
        "select %s, address, address, 'Somebody', 400 from "
        "(select 'p' || generate_series(1, %s) || '@x.example' as address) as made",
        *(realm.id, people),
    )
    first = directory.make_group("crew 0")["id"]
    columns = ", ".join(
        name
        for (name,) in stage.sql(
            "select column_name from information_schema.columns where table_name = 'user_group' "
            "and column_name not in ('id', 'name') and is_generated = 'NEVER'"
        )
    )
    stage.sql(
        f"insert into user_group (name, {columns}) select 'crew ' || number, {columns} "
        "from user_group, generate_series(1, %s) as number where id = %s",
        *(groups - 1, int(first)),
    )
    stage.sql(
        "insert into group_member (realm_id, group_id, user_id) select %s, user_group.id, account.id from user_group, account "
        "where user_group.realm_id = %s and name like 'crew %%' and account.realm_id = %s and email like 'p%%@x.example'",
        *(realm.id,) * 3,
    )
    pages: list[Json] = []
    while sum(page["itemsPerPage"] for page in pages) < groups:
        start = 1 + sum(page["itemsPerPage"] for page in pages)
        pages.append(directory.get("/Groups", startIndex=start))
        assert (pages[-1]["totalResults"], len(pages[-1]["Resources"])) == (groups, pages[-1]["itemsPerPage"])
    assert [page["itemsPerPage"] for page in pages] == [
        MAX_LISTED_MEMBERS // people,
        groups - MAX_LISTED_MEMBERS // people,
    ]
    listed = [group for page in pages for group in page["Resources"]]
    assert {group["displayName"] for group in listed} == {f"crew {number}" for number in range(groups)}
    assert {len(group["members"]) for group in listed} == {people}
    assert directory.get("/Groups", excludedAttributes="members")["itemsPerPage"] == groups


def test_a_group_that_is_deleted_is_deactivated_unless_it_is_in_use(realm: Realm, directory: Directory) -> None:
    made = directory.make_group(unique("crew"), str(realm.member.id))
    value = {"new": int(made["id"])}
    check_success(realm.owner.request("PATCH", "realm", can_create_groups=value))
    refused(directory.request("DELETE", f"/Groups/{made['id']}"), 409)
    [(nobody,)] = realm.stage.sql("select id from user_group where realm_id = %s and name = 'role:members'", realm.id)
    check_success(realm.owner.request("PATCH", "realm", can_create_groups={"new": nobody}))
    assert directory.request("DELETE", f"/Groups/{made['id']}").status_code == 204
    refused(directory.request("GET", f"/Groups/{made['id']}"), 404)
    again = directory.make_group(made["displayName"], str(realm.guest.id))
    assert (again["id"], [one["value"] for one in again["members"]]) == (made["id"], [str(realm.guest.id)])
