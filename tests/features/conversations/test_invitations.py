"""Invitations: who may send which, what becomes of them, and how people sign up by them."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.groups import make_group
from tests.harness.browser import Browser
from tests.harness.mails import mailed, mails_to
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, OWNER, Server
from tests.harness.stage import Web, at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique
from tests.harness.visitor import Visitor

DAY = 86400


def address(domain: str = "example.com") -> str:
    return unique("invited").replace(" ", ".") + "@" + domain


def key_for(folder: Path, email: str, count: int = 1) -> str:
    return mailed(folder, email, r"http://\S+/join/(\S+)", count)[-1]


def invite(speaker: Speaker, emails: str, **more: Any) -> httpx.Response:
    return speaker.request("POST", "invites", invitee_emails=emails, **{"stream_ids": [], **more})


def link(speaker: Speaker, **more: Any) -> str:
    """The key of a link for many."""
    return str(speaker.post("invites/multiuse", **more)["invite_link"]).rpartition("/")[2]


def invites(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.get("invites")["invites"]
    return found


def allow(realm: Realm, **settings: object) -> None:
    check_success(realm.owner.request("PATCH", "realm", **settings))


def make_default(realm: Realm, channel_id: int) -> None:
    realm.stage.sql("insert into default_channel (channel_id, realm_id) values (%s, %s)", channel_id, realm.id)


def subscribed(browser: Browser) -> set[int]:
    return {one["stream_id"] for one in browser.get("users/me/subscriptions")["subscriptions"]}


def check_bad(reply: httpx.Response) -> str:
    return check_error(reply, "INVITATION_INVALID")


# Signing up


def test_an_invited_person_gets_the_account_that_was_promised(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    inside, private = (
        realm.stage.channel(realm.owner, realm_id=realm.id),
        realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True),
    )
    default = realm.stage.channel(realm.owner, realm_id=realm.id)
    make_default(realm, default.stream_id)
    group_id, email = make_group(realm.owner), address()
    offer = {"stream_ids": [inside.stream_id, private.stream_id], "group_ids": [group_id], "invite_as": 300}
    with Queue(realm.owner, event_types=["invites_changed"], fetch_event_types=[]) as queue:
        check_success(invite(realm.owner, email, **offer))
        assert [event["type"] for event in queue.poll()] == ["invites_changed"]
        [listed] = invites(realm.owner)
        assert listed["expiry_date"] - listed["invited"] == 10 * DAY
        assert listed == {
            "id": listed["id"], "invited_by_user_id": realm.owner.id, "invited": listed["invited"],
            "expiry_date": listed["expiry_date"], "invited_as": 300, "is_multiuse": False, "email": email,
            "notify_referrer_on_join": True,
        }  # fmt: skip
        key = key_for(folder_of_mails, email)
        found = visitor.get(f"signups/{key}")
        assert found == {"result": "success", "msg": "", "realm_name": "Elsewhere", "email": email, "invited_as": 300,
                         "inviter_full_name": "Somebody New"}  # fmt: skip
        new = visitor.join(key)
        assert [event["type"] for event in queue.poll()] == ["invites_changed"]
    me = visitor.get("users/me")
    assert (me["user_id"], me["delivery_email"], me["full_name"], me["role"]) == (new, email, "Nora New", 300)
    assert subscribed(visitor) == {inside.stream_id, private.stream_id}
    assert new in realm.owner.get(f"user_groups/{group_id}/members")["members"]
    assert invites(realm.owner) == []
    [told] = realm.owner.window(before=1)["messages"]
    assert told["sender_full_name"] == "Notification Bot"
    assert "Nora New" in told["content"]
    assert visitor.get("users/me/api_keys")["api_keys"] == []
    check_success(visitor.request("POST", "fetch_api_key", username=email, password=PASSWORD))


def test_a_name_sends_no_link_in_the_mail_of_an_invitation(realm: Realm, folder_of_mails: Path) -> None:
    allow(realm)
    check_success(realm.owner.request("PATCH", "settings", full_name="Prize https://evil.com/x or evil.com"))
    email = address()
    check_success(invite(realm.owner, email))
    [mail] = mails_to(folder_of_mails, email)
    for text in (mail.get_content(), str(mail["Subject"])):
        assert "Prize" in text
        assert "://evil" not in text
        assert "evil.com" not in text


def test_default_channels_come_with_an_invitation_only_if_it_says_so(realm: Realm, folder_of_mails: Path) -> None:
    default = realm.stage.channel(realm.owner, realm_id=realm.id)
    make_default(realm, default.stream_id)
    for included in (False, True):
        email, one = address(), Visitor(realm)
        check_success(
            invite(
                realm.owner,
                email,
                include_realm_default_subscriptions=included,
                invite_as=GUEST,
                notify_referrer_on_join=False,
            )
        )
        one.join(key_for(folder_of_mails, email))
        assert subscribed(one) == ({default.stream_id} if included else set())
        one.http.close()
    told = realm.owner.window(before=5)["messages"]
    assert not any("accepted" in message["content"] for message in told)


def test_used_revoked_expired_and_unknown_invitations_look_alike(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    emails = [address() for _ in range(4)]
    check_success(invite(realm.owner, ",".join(emails)))
    used, revoked, expired, orphaned = (key_for(folder_of_mails, email) for email in emails)
    ids = {one["email"]: one["id"] for one in invites(realm.owner)}
    visitor.join(used)
    realm.owner.delete(f"invites/{ids[emails[1]]}")
    realm.stage.sql("update invitation set expires = now() where id = %s", ids[emails[2]])
    realm.stage.sql("update account set is_active = false where id = %s", realm.owner.id)
    nobody = realm.stage.nobody(host=realm.host)
    said = set()
    for key in (used, revoked, expired, orphaned, "made-up", "x" * 90):
        said.add(check_bad(nobody.request("GET", f"signups/{key}")))
        said.add(check_bad(nobody.request("POST", f"signups/{key}", full_name="Eve", password=PASSWORD)))
        said.add(check_bad(nobody.request("POST", "signups", email=address(), key=key)))
        page = nobody.http.get(f"{realm.stage.server.url}/join/{key}?plain=true")
        assert page.status_code == 400
        said.add(re.sub("<[^>]*>", "", page.text.partition("</h1>")[2]).strip())
    assert len(said) == 1


def test_of_two_who_bring_the_same_key_one_gets_the_account(realm: Realm, folder_of_mails: Path) -> None:
    for _ in range(2):
        email = address()
        check_success(invite(realm.owner, email))
        key, both = key_for(folder_of_mails, email), [Visitor(realm), Visitor(realm)]
        replies = at_once([partial(one.sign_up, key) for one in both])
        assert sorted(reply.status_code for reply in replies) == [200, 400]
        check_bad(next(reply for reply in replies if reply.status_code == 400))
        for one in both:
            one.http.close()


def test_a_link_for_many_makes_accounts_of_those_who_confirm_their_address(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    key = link(realm.owner, stream_ids=[channel.stream_id], invite_expires_in_minutes="null")
    [listed] = invites(realm.owner)
    assert (listed["is_multiuse"], listed["expiry_date"], "email" in listed) == (True, None, False)
    assert listed["link_url"].endswith(f"/join/{key}")
    assert visitor.get(f"signups/{key}")["email"] is None
    assert "address" in check_error(visitor.sign_up(key))
    for _ in range(2):
        email, one = address(), Visitor(realm)
        one.post("signups", email=email, key=key)
        own = key_for(folder_of_mails, email)
        assert one.get(f"signups/{own}")["email"] == email
        one.join(own)
        assert subscribed(one) == {channel.stream_id}
        check_bad(visitor.sign_up(own))
        one.http.close()
    email = address()
    visitor.post("signups", email=email, key=key)
    own = key_for(folder_of_mails, email)
    check_error(realm.owner.request("DELETE", f"invites/{listed['id']}"))
    realm.owner.delete(f"invites/multiuse/{listed['id']}")
    check_bad(visitor.sign_up(own))


def test_whoever_asks_does_not_learn_that_an_address_has_an_account(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    key, email = link(realm.owner), address()
    replies = [visitor.request("POST", "signups", email=one, key=key) for one in (email, realm.member.email)]
    assert [reply.json() for reply in replies] == [{"result": "success", "msg": ""}] * 2
    assert "/join/" not in mails_to(folder_of_mails, realm.member.email)[-1].get_content()


def test_everybody_joins_only_where_no_invitation_is_required(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    default, email = realm.stage.channel(realm.owner, realm_id=realm.id), address()
    make_default(realm, default.stream_id)
    check_error(visitor.request("POST", "signups", email=email))
    allow(realm, invite_required=False)
    check_error(visitor.request("POST", "signups", email="no address"))
    check_error(visitor.request("POST", "signups", email=address("mailinator.com")))
    visitor.post("signups", email=email)
    key = key_for(folder_of_mails, email)
    assert visitor.get(f"signups/{key}")["inviter_full_name"] is None
    allow(realm, invite_required=True)
    check_bad(visitor.sign_up(key))
    allow(realm, invite_required=False)
    visitor.join(key)
    assert visitor.get("users/me")["role"] == MEMBER
    assert subscribed(visitor) == {default.stream_id}


def test_the_rules_of_the_moment_hold_for_name_password_and_address(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    email = address("uni.example.com")
    check_success(invite(realm.owner, email))
    key = key_for(folder_of_mails, email)
    allow(realm, name="Quillington Works")
    weak = ("12345678", "x", "Quillington2024!", "quillington-works", "Tertulia2025!")
    for name, password in (*(("Nora", each) for each in weak), ("", PASSWORD), ("a@b", PASSWORD)):
        check_error(visitor.sign_up(key, name, password))
    allow(realm, require_unique_names=True)
    check_error(visitor.sign_up(key, "somebody new"))
    realm.owner.post("realm/domains", domain="example.org", allow_subdomains=False)
    allow(realm, emails_restricted_to_domains=True)
    check_error(visitor.sign_up(key))
    allow(realm, emails_restricted_to_domains=False)
    realm.stage.sql(
        """update realm set settings = settings || '{"password_auth_enabled": false}' where id = %s""", realm.id
    )
    check_error(visitor.sign_up(key), "PASSWORD_AUTH_DISABLED", 401)
    realm.stage.sql("update realm set settings = settings - 'password_auth_enabled' where id = %s", realm.id)
    visitor.join(key)


def test_a_page_of_another_site_signs_nobody_up(realm: Realm, visitor: Visitor, folder_of_mails: Path) -> None:
    email = address()
    check_success(invite(realm.owner, email))
    visitor.http.headers["origin"] = "https://elsewhere.example.com"
    reply = visitor.sign_up(key_for(folder_of_mails, email))
    assert (reply.status_code, reply.json()["code"]) == (403, "CSRF_FAILED")


def test_an_invitation_gives_no_more_than_its_inviter_could_give_now(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    private, public = (
        realm.stage.channel(realm.owner, realm.administrator, realm_id=realm.id, invite_only=closed)
        for closed in (True, False)
    )
    group_id, email, other = make_group(realm.administrator), address(), address()
    channels = [private.stream_id, public.stream_id]
    check_success(invite(realm.administrator, email, stream_ids=channels, group_ids=[group_id]))
    check_success(invite(realm.administrator, other, invite_as=200))
    check_success(realm.owner.request("PATCH", f"users/{realm.administrator.id}", role=400))
    realm.stage.remove(private, realm.administrator)
    manage = {"new": {"direct_members": [realm.owner.id], "direct_subgroups": []}}
    changed = {"can_manage_group": manage, "can_add_members_group": manage}
    check_success(realm.owner.request("PATCH", f"user_groups/{group_id}", **changed))
    new = visitor.join(key_for(folder_of_mails, email))
    assert subscribed(visitor) == {public.stream_id}
    assert visitor.get("users/me")["role"] == MEMBER
    assert new not in realm.owner.get(f"user_groups/{group_id}/members")["members"]
    check_bad(visitor.sign_up(key_for(folder_of_mails, other)))


def test_an_invitation_is_good_while_its_inviter_may_invite(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    email, confirmed = address(), address()
    check_success(invite(realm.member, email))
    allow(realm, create_multiuse_invite_group={"new": {"direct_members": [realm.member.id], "direct_subgroups": []}})
    many = link(realm.member)
    check_success(visitor.request("POST", "signups", email=confirmed, key=many))
    by_mail, by_link = key_for(folder_of_mails, email), key_for(folder_of_mails, confirmed)
    only_owner = {"new": {"direct_members": [realm.owner.id], "direct_subgroups": []}}
    allow(realm, can_invite_users_group=only_owner, create_multiuse_invite_group=only_owner)
    check_bad(visitor.sign_up(by_mail))
    check_bad(visitor.sign_up(by_link))
    check_bad(visitor.request("POST", "signups", email=address(), key=many))
    (sent, _) = invites(realm.member)
    assert check_error(realm.member.request("POST", f"invites/{sent['id']}/resend")) == "Insufficient permission"
    # As it was before: so are they.
    members = {"new": {"direct_members": [realm.owner.id, realm.member.id], "direct_subgroups": []}}
    allow(realm, can_invite_users_group=members)
    visitor.join(by_mail)
    check_bad(visitor.sign_up(by_link))


def test_invitations_end_with_the_account_of_who_sent_them_and_of_who_came_otherwise(
    realm: Realm, visitor: Visitor, folder_of_mails: Path
) -> None:
    email, other = address(), address()
    check_success(invite(realm.member, email))
    check_success(invite(realm.owner, other))
    with Queue(realm.owner, event_types=["invites_changed"], fetch_event_types=[]) as queue:
        realm.owner.delete(f"users/{realm.member.id}")
        assert len(queue.poll()) == 1
        realm.owner.post("users", email=other, full_name="Otto", password=PASSWORD)
        assert len(queue.poll()) == 1
    assert invites(realm.owner) == []
    check_bad(visitor.sign_up(key_for(folder_of_mails, email)))
    check_bad(visitor.sign_up(key_for(folder_of_mails, other)))


# Inviting


def test_roles_are_given_by_those_who_have_more(realm: Realm) -> None:
    allowed = {
        realm.owner: {100, 200, 300, 400, 600},
        realm.administrator: {200, 300, 400, 600},
        realm.moderator: {400, 600},
        realm.member: {400, 600},
    }
    for speaker, roles in allowed.items():
        for role in (100, 200, 300, 400, 600):
            reply = invite(speaker, address(), invite_as=role)
            if role in roles:
                check_success(reply)
            else:
                check_error(reply, "UNAUTHORIZED_PRINCIPAL")
    check_error(invite(realm.owner, address(), invite_as=500))
    check_error(realm.member.request("POST", "invites/multiuse"))
    allow(realm, can_invite_users_group={"new": {"direct_members": [realm.member.id], "direct_subgroups": []}})
    check_success(invite(realm.member, address()))
    check_error(invite(realm.moderator, address()))


def test_everybody_looks_after_their_own_invitations_and_administrators_after_those_they_could_send(
    realm: Realm, folder_of_mails: Path
) -> None:
    of_member, of_owner = address(), address()
    check_success(invite(realm.member, of_member))
    check_success(invite(realm.owner, of_owner, invite_as=OWNER))
    secret = link(realm.owner, invite_as=OWNER)
    open_link = link(realm.owner, invite_as=ADMINISTRATOR)
    assert [one["email"] for one in invites(realm.member)] == [of_member]
    shown = [one.get("email") or one["link_url"].rpartition("/")[2] for one in invites(realm.administrator)]
    assert shown == [of_member, open_link]
    assert invites(realm.moderator) == []
    every = {one.get("email") or one["link_url"].rpartition("/")[2]: one["id"] for one in invites(realm.owner)}
    assert set(every) == {of_member, of_owner, secret, open_link}
    for speaker, name in ((realm.administrator, of_owner), (realm.moderator, of_member)):
        check_error(speaker.request("DELETE", f"invites/{every[name]}"))
        check_error(speaker.request("POST", f"invites/{every[name]}/resend"))
    check_error(realm.administrator.request("DELETE", f"invites/multiuse/{every[secret]}"))
    first = key_for(folder_of_mails, of_member)
    realm.administrator.post(f"invites/{every[of_member]}/resend")
    second = key_for(folder_of_mails, of_member, 2)
    nobody = realm.stage.nobody(host=realm.host)
    check_bad(nobody.request("GET", f"signups/{first}"))
    nobody.get(f"signups/{second}")
    realm.member.delete(f"invites/{every[of_member]}")
    check_error(realm.member.request("DELETE", f"invites/{every[of_member]}"))


def test_addresses_that_fail_are_named_and_the_others_invited(realm: Realm, folder_of_mails: Path) -> None:
    new, gone = address(), realm.speaker()
    realm.owner.delete(f"users/{gone.id}")
    reply = invite(realm.owner, f"Nora <{new}>,\n{realm.member.email}, {gone.email}")
    body = reply.json()
    assert (reply.status_code, body["code"], body["sent_invitations"]) == (400, "INVITATION_FAILED", True)
    assert [(email, gone_for_good) for email, _, gone_for_good in body["errors"]] == [
        (realm.member.email, False),
        (gone.email, True),
    ]
    assert (body["license_limit_reached"], body["daily_limit_reached"]) == (False, False)
    key_for(folder_of_mails, new)
    for emails in (f"{address()},nonsense", address("mailinator.com"), realm.member.email):
        body = invite(realm.owner, emails).json()
        assert (body["code"], body["sent_invitations"]) == ("INVITATION_FAILED", False)
    assert [one["email"] for one in invites(realm.owner)] == [new]
    check_error(invite(realm.owner, " , \n"))


def test_nobody_invites_to_what_they_could_not_give(realm: Realm) -> None:
    private = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    archived = realm.stage.channel(realm.owner, realm_id=realm.id)
    realm.owner.delete(f"streams/{archived.stream_id}")
    group_id = make_group(realm.owner)
    for channel_id in (private.stream_id, archived.stream_id, 999_999_999):
        reply = invite(realm.member, address(), stream_ids=[channel_id])
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=channel_id)
    # The administrator knows of it, and may not bring anybody into it.
    assert private.name in check_error(invite(realm.administrator, address(), stream_ids=[private.stream_id]))
    check_error(invite(realm.member, address(), group_ids=[group_id]))
    check_error(invite(realm.owner, address(), group_ids=[999_999_999]))
    assert invites(realm.owner) == []


def test_an_organization_has_a_limit_of_mails_a_day(realm: Realm) -> None:
    realm.stage.sql("insert into invitation_mails select %s, (now() at time zone 'UTC')::date, 999", realm.id)
    body = invite(realm.owner, f"{address()},{address()}").json()
    assert (body["code"], body["daily_limit_reached"], body["sent_invitations"]) == ("INVITATION_FAILED", True, False)
    check_success(invite(realm.owner, address()))
    [one] = invites(realm.owner)
    assert realm.owner.request("POST", f"invites/{one['id']}/resend").json()["daily_limit_reached"]


@pytest.mark.system
def test_an_address_is_sent_three_invitations_an_hour_and_a_member_sends_a_hundred_a_day(
    realm: Realm, server: Server, folder: Path
) -> None:
    web = Web(server, folder, rate_limits="true")
    try:
        web.wait()
        owner, member = (realm.speaker(role, url=web.url) for role in (OWNER, MEMBER))
        email = address()
        check_success(invite(owner, email))
        check_success(invite(owner, email.upper()))
        [one] = invites(owner)
        owner.post(f"invites/{one['id']}/resend")
        for reply in (invite(member, email), owner.request("POST", f"invites/{one['id']}/resend")):
            body = reply.json()
            assert (body["code"], body["sent_invitations"]) == ("INVITATION_FAILED", False)
            assert [failed.lower() for failed, _, _ in body["errors"]] == [email]
        many = [address() for _ in range(102)]
        body = invite(member, ",".join(many)).json()
        assert (body["code"], body["sent_invitations"]) == ("INVITATION_FAILED", True)
        assert [failed for failed, _, _ in body["errors"]] == many[100:]
        assert [shown["email"] for shown in invites(member)] == many[:100]
        check_success(invite(owner, ",".join(many[100:])))
    finally:
        web.stop()


def test_inviting_somebody_again_replaces_ones_own_invitation(realm: Realm, folder_of_mails: Path) -> None:
    email = address()
    for speaker in (realm.owner, realm.member, realm.owner):
        check_success(invite(speaker, email.upper() if speaker is realm.member else email))
    assert len(invites(realm.owner)) == 2
    one = Visitor(realm)
    one.join(key_for(folder_of_mails, email, 2))
    one.http.close()
    assert invites(realm.owner) == []


# Pages


def test_joining_needs_nothing_but_a_browser(realm: Realm, visitor: Visitor, folder_of_mails: Path) -> None:
    site, email = realm.stage.server.url, address()
    page = visitor.http.get(f"{site}/join/{link(realm.owner)}?plain=true")
    assert page.headers["referrer-policy"] == "same-origin"
    assert "<h1>Join " in page.text
    assert "script" not in page.text
    key = re.findall(r'name="key" value="([^"]+)"', page.text)
    sent = visitor.http.post(f"{site}/join/address", data={"key": key[0], "email": email})
    assert sent.status_code == 200
    own = key_for(folder_of_mails, email)
    form = visitor.http.get(f"{site}/join/{own}?plain=true").text
    assert email in form
    fields = {"key": own, "full_name": "Nora New"}
    weak = visitor.http.post(f"{site}/join", data=fields | {"password": "12345678"})
    assert (weak.status_code, "Go back" in weak.text) == (400, True)
    joined = visitor.http.post(f"{site}/join", data=fields | {"password": PASSWORD})
    assert (joined.status_code, joined.headers["location"]) == (303, "/")
    assert visitor.get("users/me")["delivery_email"] == email
    assert visitor.http.get(f"{site}/join?plain=true").status_code == 400
    allow(realm, invite_required=False)
    assert "Send me a link" in visitor.http.get(f"{site}/join?plain=true").text
