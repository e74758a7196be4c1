"""A new email address of one's own, and where addresses may be."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.harness.mails import mailed
from tests.harness.passwords import PASSWORD as OWN
from tests.harness.passwords import give_password
from tests.harness.realm import Realm, listening, people_events
from tests.harness.server import Server
from tests.harness.stage import Web, holds_up, later
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, unique

PASSWORD = "seven copper kettles sing"


def address(domain: str = "example.com") -> str:
    return unique("new").replace(" ", ".") + "@" + domain


def wish(speaker: Speaker, email: str) -> httpx.Response:
    return speaker.request("PATCH", "settings", email=email, old_password=OWN)


def confirm(realm: Realm, token: str) -> httpx.Response:
    return realm.stage.nobody(host=realm.host).request("POST", "accounts/email/confirm", token=token)


def agree(realm: Realm, folder: Path, old: str) -> None:
    """What the owner of the old address does."""
    assert check_success(confirm(realm, token_for(folder, old)))["is_changed"] is False


def token_for(folder: Path, email: str, count: int = 1) -> str:
    return mailed(folder, email, r"http://\S+/accounts/email/confirm/(\S+)", count)[-1]


@pytest.fixture
def realm(realm: Realm) -> Realm:
    """Everybody has a password: without it nobody asks for another address."""
    give_password(realm.stage, *realm.all)
    return realm


def shown(reader: Speaker, user_id: int) -> tuple[str, str]:
    user = reader.get(f"users/{user_id}")["user"]
    return user["email"], user["delivery_email"]


def test_a_new_address_counts_once_it_is_confirmed(realm: Realm, folder_of_mails: Path) -> None:
    old, new = realm.member.email, address()
    with listening(realm.guest) as queue:
        check_success(wish(realm.member, new))
        assert shown(realm.owner, realm.member.id) == (old, old)
        agree(realm, folder_of_mails, old)
        token = token_for(folder_of_mails, new)
        check_success(confirm(realm, token))
        assert shown(realm.owner, realm.member.id) == (new, new)
        told = [event["person"] for event in people_events(queue)]
        assert told == [
            {"user_id": realm.member.id, "delivery_email": new},
            {"user_id": realm.member.id, "new_email": new},
        ]
    mailed(folder_of_mails, old, f"is now {re.escape(new)}")
    check_error(realm.member.request("GET", "users/me"), "UNAUTHORIZED", 401)
    realm.member.http.auth = httpx.BasicAuth(new, realm.member.user.api_key)
    assert realm.member.get("users/me")["delivery_email"] == new
    check_error(confirm(realm, token))


def test_who_hides_their_address_keeps_the_made_up_one(realm: Realm, folder_of_mails: Path) -> None:
    check_success(realm.member.request("PATCH", "settings", email_address_visibility=3))
    before, new = realm.member.get("users/me")["email"], address()
    with listening(realm.guest) as queue, listening(realm.owner) as owners:
        check_success(wish(realm.member, new))
        agree(realm, folder_of_mails, realm.member.email)
        check_success(confirm(realm, token_for(folder_of_mails, new)))
        assert [event["person"]["delivery_email"] for event in people_events(queue)] == [None]
        assert [event["person"]["delivery_email"] for event in people_events(owners)] == [new]
    assert shown(realm.owner, realm.member.id) == (before, new)


def test_only_the_last_wish_counts(realm: Realm, folder_of_mails: Path) -> None:
    first, second = address(), address()
    check_success(wish(realm.member, first))
    check_success(wish(realm.member, second))
    check_error(confirm(realm, token_for(folder_of_mails, first)))
    check_success(confirm(realm, token_for(folder_of_mails, second)))


def test_a_token_is_worth_nothing_when_things_have_changed(realm: Realm, folder_of_mails: Path) -> None:
    new = address()
    check_success(wish(realm.member, new))
    agree(realm, folder_of_mails, realm.member.email)
    token = token_for(folder_of_mails, new)
    nobody = realm.stage.nobody()
    check_error(nobody.request("POST", "accounts/email/confirm", token=token))
    check_success(realm.owner.request("PATCH", f"users/{realm.moderator.id}", new_email=new))
    assert check_error(confirm(realm, token)) == "Email is already in use."
    check_success(realm.owner.request("PATCH", f"users/{realm.moderator.id}", new_email=address()))
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", new_email=address()))
    check_error(confirm(realm, token))
    assert realm.stage.sql("select digest from email_change where user_id = %s", realm.member.id) != [(token,)]


def test_a_wish_ends_with_the_password_that_it_was_made_by(realm: Realm, folder_of_mails: Path) -> None:
    nobody = realm.stage.nobody(host=realm.host)

    def forget(speaker: Speaker) -> httpx.Response:
        nobody.post("accounts/password/reset", email=speaker.email)
        token = mailed(folder_of_mails, speaker.email, r"/accounts/password/reset/(\S+)")[-1]
        return nobody.request("POST", "accounts/password/reset/confirm", token=token, new_password=PASSWORD)

    ways: list[tuple[Speaker, Callable[[Speaker], httpx.Response]]] = [
        (realm.member, forget),
        (realm.guest, lambda one: one.request("PATCH", "settings", old_password=OWN, new_password=PASSWORD)),
        (realm.moderator, lambda one: one.request("POST", "sessions/end_others", password=OWN)),
    ]
    for speaker, end in ways:
        new = address()
        check_success(wish(speaker, new))
        agree(realm, folder_of_mails, speaker.email)
        check_success(end(speaker))
        check_error(confirm(realm, token_for(folder_of_mails, new)))


def test_who_agrees_while_the_password_is_replaced_waits_for_nobody_in_a_circle(
    realm: Realm, folder_of_mails: Path
) -> None:
    new, member = address(), realm.member
    check_success(wish(member, new))
    agree(realm, folder_of_mails, member.email)
    token = token_for(folder_of_mails, new)
    with realm.stage.session() as execute:
        execute("select from account where id = %s for no key update", member.id)
        under_way = later(confirm, realm, token)
        eventually(lambda: holds_up(execute) or under_way.done())
        execute("delete from email_change where user_id = %s", member.id)
    check_error(under_way.result(30))
    assert shown(realm.owner, member.id) == (member.email, member.email)


def test_what_cannot_be_an_address_here_is_refused(realm: Realm) -> None:
    hidden = realm.guest.request("PATCH", "settings", email_address_visibility=4)
    check_success(hidden)
    fake = realm.owner.get(f"users/{realm.guest.id}")["user"]["email"]
    for bad in ("", "x", "a b@example.com", fake, realm.moderator.email.upper()):
        check_error(wish(realm.member, bad))
    check_success(wish(realm.member, realm.member.email))
    check_error(wish(realm.bot(realm.member), address()))


def test_where_addresses_are_fixed_only_administrators_change_theirs(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", "realm", email_changes_disabled=True))
    check_error(wish(realm.member, address()))
    check_success(wish(realm.administrator, address()))


def test_a_wish_of_before_addresses_were_fixed_is_no_longer_fulfilled(realm: Realm, folder_of_mails: Path) -> None:
    for speaker in (realm.member, realm.administrator):
        new = address()
        check_success(wish(speaker, new))
        agree(realm, folder_of_mails, speaker.email)
        check_success(realm.owner.request("PATCH", "realm", email_changes_disabled=True))
        reply = confirm(realm, token_for(folder_of_mails, new))
        assert reply.status_code == (400 if speaker is realm.member else 200)
        check_success(realm.owner.request("PATCH", "realm", email_changes_disabled=False))


def test_the_link_leads_to_a_button_that_needs_no_script(realm: Realm, folder_of_mails: Path) -> None:
    new = address()
    check_success(wish(realm.member, new))
    agree(realm, folder_of_mails, realm.member.email)
    token = token_for(folder_of_mails, new)
    base, headers = realm.stage.server.url, {"host": realm.host}
    with httpx.Client(base_url=base, headers=headers, trust_env=False) as browser:
        page = browser.get(f"/accounts/email/confirm/{token}")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "<script" not in page.text
        assert shown(realm.owner, realm.member.id)[1] == realm.member.email
        for status, text in ((200, "has changed"), (400, "hasn’t changed")):
            done = browser.post("/accounts/email/confirm", data={"token": token})
            assert done.status_code == status
            assert text in done.text
    assert shown(realm.owner, realm.member.id)[1] == new


def test_nobody_is_rained_on_with_mails_about_new_addresses_and_farewells(
    realm: Realm, server: Server, folder: Path
) -> None:
    web = Web(server, folder, rate_limits="true")
    try:
        member = realm.as_user(realm.member.user, url=web.wait().url)
        replies = [wish(member, address()).status_code for _ in range(3)]
        assert replies == [200, 200, 429]
        owner, path = realm.as_user(realm.owner.user, url=web.wait().url), f"users/{realm.guest.id}"
        for status in (200, 200, 429):
            assert owner.request("DELETE", path, deactivation_notification_comment="Buy!").status_code == status
            owner.request("POST", f"{path}/reactivate")
        check_success(owner.request("DELETE", path))
    finally:
        web.stop()


# Domains


def domains(realm: Realm) -> list[Json]:
    found: list[Json] = realm.guest.get("realm/domains")["domains"]
    return found


def new_user(realm: Realm, email: str) -> httpx.Response:
    return realm.owner.request("POST", "users", email=email, password=PASSWORD, full_name="Ada")


def test_domains_are_added_changed_and_removed_and_everybody_hears_of_it(realm: Realm) -> None:
    types = ["realm_domains", "realm", "message"]
    with realm.guest.register(event_types=types, fetch_event_types=types) as queue:
        assert queue.state["realm_domains"] == []
        check_success(realm.owner.request("PATCH", "realm", emails_restricted_to_domains=True))
        made = realm.owner.post("realm/domains", domain=" Example.COM ", allow_subdomains=False)
        assert made["new_domain"][1] == "example.com"
        changed = {"domain": "example.com", "allow_subdomains": True}
        check_success(realm.owner.request("PATCH", "realm/domains/example.com", allow_subdomains=True))
        check_success(realm.owner.request("PATCH", "realm/domains/example.com", allow_subdomains=True))
        with realm.guest.register(event_types=types, fetch_event_types=types) as later:
            assert later.state["realm_domains"] == domains(realm) == [changed]
        realm.owner.delete("realm/domains/example.com")
        assert domains(realm) == []
        told = [{key: value for key, value in event.items() if key != "id"} for event in queue.so_far()]
    assert told[1:] == [
        {"type": "realm_domains", "op": "add", "realm_domain": changed | {"allow_subdomains": False}},
        {"type": "realm_domains", "op": "change", "realm_domain": changed},
        {"type": "realm_domains", "op": "remove", "domain": "example.com"},
        {"type": "realm", "op": "update", "property": "emails_restricted_to_domains", "value": False},
    ]


def test_wrong_domains_are_refused(realm: Realm) -> None:
    for bad in ("", "localhost", ".example.com", "example.com.", "a..b", "-a.com", "a b.com", "x" * 250 + ".com"):
        check_error(realm.owner.request("POST", "realm/domains", domain=bad, allow_subdomains=False))
    realm.owner.post("realm/domains", domain="example.com", allow_subdomains=False)
    check_error(realm.owner.request("POST", "realm/domains", domain="EXAMPLE.com", allow_subdomains=True))
    for method in ("PATCH", "DELETE"):
        check_error(realm.owner.request(method, "realm/domains/example.org", allow_subdomains=True))


def test_addresses_are_only_at_the_domains_of_the_organization(realm: Realm) -> None:
    realm.owner.post("realm/domains", domain="example.com", allow_subdomains=False)
    realm.owner.post("realm/domains", domain="example.org", allow_subdomains=True)
    check_success(realm.owner.request("PATCH", "realm", emails_restricted_to_domains=True))
    for good in (address("example.com"), address("EXAMPLE.org"), address("a.b.example.org")):
        check_success(new_user(realm, good))
        check_success(wish(realm.member, "x" + good))
    for bad in (address("a.example.com"), address("notexample.org"), address("example.net"), "a+b@example.com"):
        check_error(new_user(realm, bad))
        check_error(wish(realm.member, bad))
        check_error(realm.owner.request("PATCH", f"users/{realm.member.id}", new_email=bad))


def test_a_domain_that_went_away_is_noticed_when_the_address_is_confirmed(realm: Realm, folder_of_mails: Path) -> None:
    new = address("example.org")
    check_success(wish(realm.member, new))
    token = token_for(folder_of_mails, new)
    realm.owner.post("realm/domains", domain="example.com", allow_subdomains=False)
    check_success(realm.owner.request("PATCH", "realm", emails_restricted_to_domains=True))
    check_error(confirm(realm, token))


@pytest.mark.parametrize("domain", ["mailinator.com", "a.Mailinator.com"])
def test_disposable_addresses_are_refused_unless_the_organization_takes_them(realm: Realm, domain: str) -> None:
    check_error(new_user(realm, address(domain)))
    check_success(realm.owner.request("PATCH", "realm", disallow_disposable_email_addresses=False))
    check_success(new_user(realm, address(domain)))
