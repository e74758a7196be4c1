"""Linkifiers that are too large together are refused, and hold up no message."""

from tests.harness.realm import Realm
from tests.harness.talk import check_error

LARGE = "#x%d(?P<n>[0-9]{1,900})"
TEMPLATE = "https://example.com/{n}"


def test_an_organization_has_no_more_linkifiers_than_can_be_looked_for_at_once(realm: Realm) -> None:
    path = "realm/filters"
    replies = (realm.owner.request("POST", path, pattern=LARGE % number, url_template=TEMPLATE) for number in range(60))
    refused = next(reply for reply in replies if reply.status_code != 200)
    assert "too large together" in check_error(refused)
    [first, *_] = realm.owner.get("realm/linkifiers")["linkifiers"]
    larger = {"pattern": LARGE % 0 + "(z{1,700})", "url_template": TEMPLATE}
    assert "too large together" in check_error(realm.owner.request("PATCH", f"{path}/{first['id']}", **larger))


def test_those_of_before_hold_up_no_message(realm: Realm) -> None:
    sql = """
    insert into linkifier (realm_id, pattern, url_template, position)
    select %s, replace(%s, '%%d', number::text), %s, number from generate_series(0, 79) as number returning 1
    """
    realm.stage.sql(sql, realm.id, LARGE, TEMPLATE)
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "tea", "see #x01")
    html = realm.owner.get(f"messages/{sent}")["message"]["content"]
    assert '<a href="https://example.com/1">#x01</a>' in html
