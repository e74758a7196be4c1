"""Playgrounds, and what older or other clients ask for beside them."""

import pytest

from tests.contract.groups import make_group
from tests.harness.realm import Realm
from tests.harness.talk import Queue, check_error, check_success

CODE = "https://play.example.com/?code={code}"


def test_playgrounds_are_in_the_state_and_each_change_is_told(realm: Realm) -> None:
    types = ["realm_playgrounds", "message"]
    with Queue(realm.guest, event_types=types) as queue:
        assert queue.state["realm_playgrounds"] == []
        ids = [
            realm.administrator.post("realm/playgrounds", name=name, pygments_language="Python", url_template=CODE)[
                "id"
            ]
            for name in ("One", "Two")
        ]
        realm.administrator.delete(f"realm/playgrounds/{ids[0]}")
        events = queue.so_far()
    kept = {"id": ids[1], "name": "Two", "pygments_language": "Python", "url_template": CODE}
    assert [len(event["realm_playgrounds"]) for event in events] == [1, 2, 1]
    assert events[-1]["realm_playgrounds"] == [kept]
    with Queue(realm.guest, event_types=types) as queue:
        assert queue.state["realm_playgrounds"] == [kept]
    check_error(realm.administrator.request("DELETE", f"realm/playgrounds/{ids[0]}"))
    again = {"name": "Two", "pygments_language": "Python", "url_template": CODE}
    check_error(realm.administrator.request("POST", "realm/playgrounds", **again))


@pytest.mark.parametrize(
    ("name", "language", "template"),
    [
        ("", "Python", CODE),
        ("x" * 41, "Python", CODE),
        ("Play", "<b>", CODE),
        ("Play", "", CODE),
        ("Play", "Python", "https://play.example.com/"),
        ("Play", "Python", "https://play.example.com/{code"),
        ("Play", "Python", "https://play.example.com/{code}/{other}"),
        ("Play", "Python", "javascript:{code}"),
    ],
)
def test_a_playground_has_a_name_a_language_and_an_address_for_code(
    realm: Realm, name: str, language: str, template: str
) -> None:
    fields = {"name": name, "pygments_language": language, "url_template": template}
    check_error(realm.owner.request("POST", "realm/playgrounds", **fields))


def test_older_clients_read_linkifiers_as_filters(realm: Realm) -> None:
    plain = {"pattern": "#(?P<id>[0-9]+)", "url_template": "https://example.com/100%25/{id}"}
    modern = {"pattern": "!(?P<id>[0-9]+)", "url_template": "https://example.com/{?id}"}
    first, _ = (realm.owner.post("realm/filters", **one)["id"] for one in (plain, modern))
    form = "https://example.com/100%%25/%(id)s"
    assert realm.guest.get("realm/filters")["filters"] == [[plain["pattern"], form, first]]
    assert form % {"id": "7"} == "https://example.com/100%25/7"


def test_older_clients_delete_a_group_which_deactivates_it(realm: Realm) -> None:
    group_id = make_group(realm.owner)
    realm.owner.delete(f"user_groups/{group_id}")
    [found] = [
        one for one in realm.owner.get("user_groups", include_deactivated_groups=True)["user_groups"]
        if one["id"] == group_id
    ]  # fmt: skip
    assert found["deactivated"] is True


def test_administrators_see_who_agrees_to_an_export(realm: Realm) -> None:
    check_success(realm.member.request("PATCH", "settings", allow_private_data_export=True))
    found = {one["user_id"]: one for one in realm.owner.get("export/realm/consents")["export_consents"]}
    assert set(found) == {one.id for one in realm.all}
    assert found[realm.member.id] == {"user_id": realm.member.id, "consented": True, "email_address_visibility": 1}
    assert not found[realm.guest.id]["consented"]
