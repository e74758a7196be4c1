"""A token of a directory that is revoked while somebody calls with it leaves nothing behind: what it has made lets people in."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.harness.realm import Realm
from tests.harness.scim import GROUP, USER, Directory, address, refused
from tests.harness.stage import holds_up, later
from tests.harness.talk import eventually, unique


@pytest.fixture
def directory(realm: Realm) -> Iterator[Directory]:
    found = Directory.of(realm)
    yield found
    found.http.close()


def ends_meanwhile(realm: Realm, held: str, number: int, call: Callable[[], httpx.Response]) -> httpx.Response:
    """What a call is answered that was let in before the token was revoked, and writes after it."""
    with realm.stage.session() as execute:
        execute(held, number)
        under_way = later(call)
        eventually(lambda: holds_up(execute) or under_way.done())
        assert not under_way.done()
        execute("delete from scim_token where realm_id = %s", realm.id)
    return under_way.result(30)


def test_a_token_that_is_revoked_meanwhile_has_made_no_account(realm: Realm, directory: Directory) -> None:
    name = address()
    held = "select from realm where id = %s for update"
    body = {"schemas": [USER], "userName": name}
    refused(ends_meanwhile(realm, held, realm.id, lambda: directory.request("POST", "/Users", body)), 401)
    assert realm.stage.sql("select from account where email = %s", name) == []


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_token_that_is_revoked_meanwhile_changes_nobody(realm: Realm, directory: Directory, method: str) -> None:
    name = address()
    person = directory.make_user(name)
    before = realm.stage.sql("select full_name, email, is_active from account where id = %s", int(person["id"]))
    path, other = f"/Users/{person['id']}", address()

    def call() -> httpx.Response:
        if method == "PATCH":
            return directory.patch(path, {"op": "replace", "path": "displayName", "value": "Somebody Else"})
        body = {"schemas": [USER], "userName": other, "active": True} if method == "PUT" else None
        return directory.request(method, path, body)

    held = "select from account where id = %s for no key update"
    refused(ends_meanwhile(realm, held, int(person["id"]), call), 401)
    after = realm.stage.sql("select full_name, email, is_active from account where id = %s", int(person["id"]))
    assert after == before


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_token_that_is_revoked_meanwhile_puts_nobody_into_a_group(
    realm: Realm, directory: Directory, method: str
) -> None:
    person, group = directory.make_user(), directory.make_group(unique("crew"))
    member = {"value": person["id"]}

    def call() -> httpx.Response:
        if method == "PATCH":
            return directory.patch(f"/Groups/{group['id']}", {"op": "add", "path": "members", "value": [member]})
        body = {"schemas": [GROUP], "displayName": unique("desk"), "members": [member]}
        return directory.request("POST", "/Groups", body)

    held = "select from account where id = %s for update"
    refused(ends_meanwhile(realm, held, int(person["id"]), call), 401)
    assert realm.stage.sql("select from group_member where user_id = %s", int(person["id"])) == []


def test_whoever_revokes_a_token_and_whoever_calls_with_it_do_not_wait_in_a_circle(
    realm: Realm, directory: Directory
) -> None:
    """A revocation holds the owner before the token; a change holds the owners before the token, too."""
    person = directory.make_user()
    with realm.stage.session() as execute:
        execute("select from account where id = %s for no key update", realm.owner.id)
        call = later(directory.patch, f"/Users/{person['id']}", {"op": "replace", "path": "active", "value": False})
        eventually(lambda: holds_up(execute))
        execute("delete from scim_token where realm_id = %s", realm.id)
    refused(call.result(30), 401)
    assert realm.stage.sql("select is_active from account where id = %s", int(person["id"])) == [(True,)]
