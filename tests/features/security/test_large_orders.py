"""One request does not keep an organization waiting: what it names has a bound, and addresses are measured first."""

import time

from tests.harness.realm import Realm
from tests.harness.talk import check_error, unique

MARKS = "\u0315" * 4_000 + "\u0300" * 4_000


def test_people_times_channels_has_a_bound(realm: Realm) -> None:
    names = [{"name": unique("many")} for _ in range(100)]
    everybody = [realm.member.id] * 201
    for method, fields in (
        ("POST", {"subscriptions": names}),
        ("PATCH", {"add": names}),
        ("DELETE", {"subscriptions": [one["name"] for one in names]}),
    ):
        msg = check_error(realm.member.request(method, "users/me/subscriptions", **fields, principals=everybody))
        assert "These are 20100 subscriptions. One call changes at most 20000" in msg


def test_a_very_long_address_is_refused_before_it_is_taken_apart(realm: Realm) -> None:
    url = f"https://a{MARKS}.example.com/x"
    began = time.process_time()
    check_error(realm.guest.request("POST", "users/me/push_subscriptions", endpoint=url, p256dh="x", auth="y"))
    check_error(realm.member.request("POST", "bots", full_name="Bot", short_name="b", bot_type=3, payload_url=url))
    assert time.process_time() - began < 5
