"""SCIM: tokens, searches, versions and refusals."""

import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.harness.command import tertulia
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.scim import PATCH_OP, USER, Directory, address, refused, success, token_of
from tests.harness.server import OWNER, OwnServer
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Json, Queue, check_error, unique

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


def test_owners_make_and_revoke_tokens_with_their_password(realm: Realm, stage: Stage) -> None:
    give_password(stage, realm.owner)
    check_error(
        realm.owner.request("POST", "scim/tokens", label="Okta"), "REAUTHENTICATION_REQUIRED", 403, methods=["password"]
    )
    made = realm.owner.post("scim/tokens", label="Okta", password=PASSWORD)
    directory = Directory(stage.server, realm.host, made["token"])
    assert directory.get("/Users")["totalResults"] == 5
    [listed] = realm.owner.get("scim/tokens")["tokens"]
    assert (listed["id"], listed["label"], listed["made_by"]) == (made["id"], "Okta", realm.owner.id)
    assert listed["last_used"] is not None
    assert made["token"] not in str(listed)
    path = f"scim/tokens/{made['id']}"
    check_error(realm.owner.request("DELETE", path), "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    realm.owner.delete(path, password=PASSWORD)
    refused(directory.request("GET", "/Users"), 401)
    check_error(realm.owner.request("DELETE", path, password=PASSWORD))
    directory.http.close()


def test_other_owners_hear_of_a_token(realm: Realm, stage: Stage) -> None:
    give_password(stage, realm.owner)
    other = realm.speaker(OWNER)
    with Queue(other, event_types=["message"]) as queue:
        realm.owner.post("scim/tokens", label="Okta", password=PASSWORD)
        [told] = queue.until(lambda event: event["type"] == "message")
    assert "created a SCIM token: Okta" in told["message"]["content"]


def test_a_token_is_worth_something_at_its_own_organization_only(realm: Realm, stage: Stage) -> None:
    elsewhere = Realm(stage)
    token = token_of(stage, realm.id)
    for host, sent in ((elsewhere.host, token), (realm.host, f"{token}x")):
        stranger = Directory(stage.server, host, sent)
        reply = stranger.request("GET", "/Users")
        refused(reply, 401)
        assert reply.headers["www-authenticate"].startswith("Bearer ")
        stranger.http.close()
    with stage.server.client(realm.owner.user) as basic:
        reply = basic.get(f"{stage.server.url}/scim/v2/Users", headers={"host": realm.host})
        refused(reply, 401)
    with_token = Directory(stage.server, realm.host, token)
    assert with_token.http.get(f"{stage.server.url}/api/v1/users/me").status_code in (400, 401)
    stage.sql("update realm set is_active = false where id = %s", realm.id)
    refused(with_token.request("GET", "/Users"), 401)
    with_token.http.close()


def test_an_organization_has_at_most_ten_tokens(realm: Realm, stage: Stage) -> None:
    give_password(stage, realm.owner)
    for _ in range(9):
        token_of(stage, realm.id)
    works = [lambda: realm.owner.request("POST", "scim/tokens", label="more", password=PASSWORD) for _ in range(3)]
    assert sorted(reply.status_code for reply in at_once(works)) == [200, 400, 400]


def test_filters_find_whom_they_say(realm: Realm, directory: Directory) -> None:
    ada = directory.make_user(displayName="Ada Lovelace", name={"familyName": "Lovelace"}, externalId="A1")
    bob = directory.make_user(displayName="Bob O'Hara", externalId="b%2", active=False)
    both = {ada["id"], bob["id"]}

    def found(filter: str) -> set[str]:
        return {one["id"] for one in directory.find("Users", filter)} & both

    for filter, wanted in (
        ('displayName eq "ADA LOVELACE"', {ada["id"]}),
        ('displayName sw "bob" and active eq false', {bob["id"]}),
        ('displayName sw "bob" and active eq "True"', set()),
        ('displayName co "o\'h"', {bob["id"]}),
        ('displayName ew "lace"', {ada["id"]}),
        ('externalId eq "a1"', set()),
        ('externalId co "%"', {bob["id"]}),
        ("externalId pr", both),
        ("not (externalId pr)", set()),
        ("name.familyName pr", {ada["id"]}),
        ('not (name.familyName eq "Lovelace")', {bob["id"]}),
        ('name.familyName ne "Lovelace"', {bob["id"]}),
        (f'id eq "{ada["id"]}" or id eq "{bob["id"]}"', both),
        (f'emails[type eq "work" and value eq "{ada["userName"]}"]', {ada["id"]}),
        (f'emails[type eq "home" and value eq "{ada["userName"]}"]', set()),
        ('meta.created gt "2020-01-01T00:00:00Z"', both),
        ('meta.created lt "2020-01-01T00:00:00Z"', set()),
        (f'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "{ada["userName"]}"', {ada["id"]}),
        ('displayName eq "\' or true --"', set()),
    ):
        assert found(filter) == wanted, filter


@pytest.mark.parametrize(
    "filter",
    ["userName", 'nothing eq "x"', "active gt true", 'meta.created eq "soon"', "userName eq 5", "((", 'groups eq "1"',
     'userName eq "' + "x" * 5000 + '"', " or ".join(['userName eq "x"'] * 150), 'meta.created co "2"',
     'meta.created gt "0001-01-01T00:00:00+14:00"', 'meta.created lt "9999-12-31T23:59:59-14:00"', r'userName eq "\ud800"'],
)  # fmt: skip
def test_a_filter_that_is_none_is_refused(directory: Directory, filter: str) -> None:
    refused(directory.request("GET", "/Users", params={"filter": filter}), 400, "invalidFilter")
    search = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": filter}
    refused(directory.request("POST", "/Users/.search", search), 400, "invalidFilter")


def test_lists_come_in_pages(realm: Realm, directory: Directory) -> None:
    ids = [one["id"] for one in directory.get("/Users")["Resources"]]
    assert ids == [str(one.id) for one in sorted(realm.all, key=lambda one: one.id)]
    page = directory.get("/Users", startIndex=2, count=2)
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (5, 2, 2)
    assert [one["id"] for one in page["Resources"]] == ids[1:3]
    assert directory.get("/Users", startIndex=0, count=1)["Resources"][0]["id"] == ids[0]
    assert directory.get("/Users", startIndex=99)["Resources"] == []
    assert directory.get("/Users", startIndex=10**15, count=10**15)["totalResults"] == 5
    empty = directory.get("/Users", count=-1)
    assert (empty["totalResults"], empty["Resources"]) == (5, [])
    posted = success(directory.request("POST", "/Users/.search", {"startIndex": 2, "count": 2, "attributes": ["id"]}))
    assert [one["id"] for one in posted["Resources"]] == ids[1:3]
    assert all(one.keys() == {"schemas", "id"} for one in posted["Resources"])


def test_a_client_gets_the_attributes_it_asks_for(realm: Realm, directory: Directory) -> None:
    made = directory.make_user(name={"givenName": "Ada", "familyName": "Byron"})
    path = f"/Users/{made['id']}"
    some = directory.get(path, attributes="userName,name.givenName,urn:ietf:params:scim:schemas:core:2.0:User:active")
    assert some == {
        "schemas": [USER], "id": made["id"], "userName": made["userName"], "name": {"givenName": "Ada"}, "active": True,
    }  # fmt: skip
    rest = directory.get(path, excludedAttributes="emails,name.familyName,id")
    assert ("emails" in rest, rest["name"], rest["id"]) == (False, {"givenName": "Ada"}, made["id"])


def test_what_would_take_long_to_read_is_refused(directory: Directory) -> None:
    made = directory.make_user()
    names = ",".join(f"name{number}" for number in range(1000))
    refused(directory.request("GET", "/Users", params={"attributes": names}), 413, "tooMany")
    filter = " or ".join(['value eq "x"'] * 60)
    operation = {"op": "remove", "path": f"emails[{filter}]"}
    sent = {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [operation]}
    refused(directory.request("PATCH", f"/Users/{made['id']}", sent), 400, "invalidPath")


def test_a_change_names_few_attributes_however_it_is_spelled(directory: Directory) -> None:
    """Each takes the library long, and of a person a second time, while everybody else waits."""
    person = f"/Users/{directory.make_user()['id']}"
    group = f"/Groups/{directory.make_group(unique('crew'))['id']}"
    names = {f"n{number}": 1 for number in range(201)}
    addresses = [{"value": f"a{number}@example.com"} for number in range(101)]
    for operation in (
        {"op": "add", "value": names},
        {"op": "add", "path": "name", "value": names},
        {"op": "add", "value": {"name": names}},
        {"op": "add", "Path": "name", "VALUE": names},
        {"op": "add", "path": "emails", "VALUE": addresses},
        {"op": "add", "path": "emails", "value": [], "Value": addresses},
    ):
        refused(directory.patch(person, operation), 413, "tooMany")
    refused(directory.patch(group, {"op": "add", "value": names}), 413, "tooMany")
    half: Json = {"op": "add", "value": {f"n{number}": 1 for number in range(101)}}
    refused(directory.patch(group, half, half), 413, "tooMany")
    refused(directory.patch(person, {"op": "add", "value": {"n" * 201: 1}}), 400, "invalidPath")
    refused(directory.patch(person, {"op": "add", "PATH": "n" * 501, "value": 1}), 400, "invalidPath")
    many = [{"op": "add", "path": "externalId", "value": "x"}] * 201
    twice = {"schemas": [PATCH_OP], "operations": [], "Operations": many}
    refused(directory.request("PATCH", person, twice), 413, "tooMany")
    assert (
        success(directory.patch(person, {**half, "value": {"externalId": "x", **half["value"]}}))["externalId"] == "x"
    )


def test_a_change_of_a_person_that_would_take_long_is_refused_whatever_makes_it_long(directory: Directory) -> None:
    """It is applied while nobody else is answered, and the library looks at every value for each thing that is written."""
    made = directory.make_user()
    person = f"/Users/{made['id']}"
    listed: list[Json] = [{"value": f"a{number}@example.com"} for number in range(99)]
    many: Json = {"op": "add", "path": "emails", "value": listed}
    one_by_one: list[Json] = [{"op": "add", "path": "emails", "value": one} for one in listed]
    filtered: list[Json] = [
        {"op": "replace", "path": f'emails[value eq "a{number}@b.c"].type', "value": "x"} for number in range(99)
    ]
    long = " or ".join(['value co "zz"'] * 24)
    spellings = ["emails." + "".join(map(str, letters)) for letters in product("tT", "yY", "pP", "eE")]
    for operations in (
        [many, *[{"op": "remove", "path": f"emails[{long}]"}] * 5],
        [many, *[{"op": "replace", "path": "emails.type", "value": "x"}] * 50],
        [many, *[{"op": "add", "value": dict.fromkeys(spellings, "x")}] * 3],
        one_by_one,
        filtered,
    ):
        began = time.monotonic()
        refused(directory.patch(person, *operations), 413, "tooMany")
        assert time.monotonic() - began < 1, "it was not applied first"
    assert directory.get(person) == made
    department = f"{ENTERPRISE}:department"
    usual: list[Json] = [
        *[{"op": "replace", "path": department, "value": "x"}] * 30,
        *[{"op": "add", "path": f'addresses[type eq "work"].line{n}', "value": "x"} for n in range(8)],
        {"op": "replace", "path": 'emails[type eq "work"].value', "value": (mail := address())},
    ]
    assert success(directory.patch(person, *usual))["emails"][0]["value"] == mail


def test_a_version_that_is_no_more_is_not_written_over(realm: Realm, directory: Directory) -> None:
    made = directory.make_user()
    path, version = f"/Users/{made['id']}", made["meta"]["version"]
    reply = directory.request("GET", path, headers={"if-none-match": version})
    assert (reply.status_code, reply.headers["etag"]) == (304, version)
    change = {"op": "replace", "path": "displayName", "value": "Another Name"}
    works = [lambda: directory.patch(path, change, headers={"if-match": version}) for _ in range(2)]
    first, second = sorted(at_once(works), key=lambda reply: reply.status_code)
    assert success(first)["displayName"] == "Another Name"
    refused(second, 412)
    refused(directory.request("DELETE", path, headers={"if-match": version}), 412)
    group = directory.make_group(unique("crew"), made["id"])
    at = {"if-match": group["meta"]["version"]}
    assert directory.patch(f"/Groups/{group['id']}", {"op": "remove", "path": "members"}, headers=at).status_code == 204
    refused(directory.request("DELETE", f"/Groups/{group['id']}", headers=at), 412)


def test_every_refusal_has_the_shape_of_the_protocol(realm: Realm, directory: Directory, stage: Stage) -> None:
    made = directory.make_user()
    path = f"/Users/{made['id']}"
    refused(directory.request("GET", "/Nothing"), 404)
    refused(directory.request("PUT", "/Users", {}), 405)
    refused(directory.request("POST", "/Users", content=b"{"), 400, "invalidSyntax")
    refused(directory.request("POST", "/Users", []), 400, "invalidSyntax")
    refused(directory.request("POST", "/Users", content=b'{"userName":"a\\u0000b"}'), 400, "invalidSyntax")
    refused(directory.request("POST", "/Users", content=b"[" * 100000), 400, "invalidSyntax")
    refused(directory.request("POST", "/Users", {"userName": 5}), 400, "invalidValue")
    refused(directory.request("POST", "/Users", content=b" " * (3 << 20)), 413)
    refused(directory.request("GET", "/Users", params={"count": "many"}), 400, "invalidValue")
    refused(directory.patch(path, {"op": "zap"}), 400, "invalidValue")
    refused(directory.patch(path, {"op": "replace", "path": "((", "value": 1}), 400, "invalidPath")
    refused(directory.patch(path, {"op": "replace", "path": "id", "value": "1"}), 400, "mutability")
    refused(directory.patch(path), 400, "invalidValue")
    refused(directory.patch(path, *[{"op": "add", "path": "externalId", "value": "x"}] * 201), 413, "tooMany")
    many = [{"value": str(number)} for number in range(5001)]
    refused(directory.request("POST", "/Groups", {"displayName": "all", "members": many}), 413, "tooMany")
    group = f"/Groups/{directory.make_group(unique('crew'))['id']}"
    for operation in ({"path": "members", "value": many}, {"value": {"members": many}}):
        refused(directory.patch(group, {"op": "add", **operation}), 413, "tooMany")
    half = {"op": "add", "path": "members", "value": many[:2501]}
    refused(directory.patch(group, half, half), 413, "tooMany")
    addresses = [{"value": f"a{number}@example.com"} for number in range(25)]
    refused(directory.patch(path, *[{"op": "add", "path": "emails", "value": addresses}] * 5), 413, "tooMany")
    for method, where in (("GET", "/Me"), ("POST", "/Bulk"), ("POST", "/.search")):
        refused(directory.request(method, where), 501)


def test_operators_make_list_and_revoke_tokens(realm: Realm, stage: Stage) -> None:
    assert isinstance(stage.server, OwnServer)

    def command(*words: str) -> str:
        env = stage.server.environment()  # type: ignore[attr-defined]
        done = tertulia("scim-token", *words, "--realm", realm.subdomain, env=env)
        done.check_returncode()
        return done.stdout.strip()

    directory = Directory(stage.server, realm.host, command("create", "Entra ID"))
    assert directory.get("/Users")["totalResults"] == 5
    id, used, label = command("list").split("\t")
    assert (label, used != "never") == ("Entra ID", True)
    command("revoke", id)
    refused(directory.request("GET", "/Users"), 401)
    assert command("list") == ""
    directory.http.close()


@pytest.mark.timed
def test_a_directory_is_limited_as_a_user_is_and_a_wrong_token_as_a_stranger(
    realm: Realm, stage: Stage, folder: Path
) -> None:
    web = Web(stage.server, folder, rate_limits="true", user_rate="5/60", address_rate="8/60")
    try:
        web.wait()
        good, bad = (Directory(web, realm.host, token) for token in (token_of(stage, realm.id), "wrong"))
        replies = [good.request("GET", "/Users") for _ in range(7)]
        assert [reply.status_code for reply in replies[:5]] == [200] * 5
        refused(replies[-1], 429)
        assert float(replies[-1].headers["retry-after"]) > 0
        statuses = {bad.request("GET", "/Users").status_code for _ in range(12)}
        assert statuses == {401, 429}
        good.http.close()
        bad.http.close()
    finally:
        web.stop()


def test_without_the_library_there_are_tokens_but_no_scim() -> None:
    code = (
        "import sys; sys.modules['scim2_models'] = None\n"
        "from tertulia.server.features import FEATURES; from tertulia.server.app import endpoints_of\n"
        "print(sorted(one.path for one in endpoints_of(FEATURES) if 'scim' in one.path))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "['/api/v1/scim/tokens', '/api/v1/scim/tokens', '/api/v1/scim/tokens/{token_id}']"
