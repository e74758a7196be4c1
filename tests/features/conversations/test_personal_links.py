"""Links that an administrator hands over where no mail is sent, and the language in which newcomers are met."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.mails import mailed
from tests.harness.realm import Realm
from tests.harness.server import ADMINISTRATOR, MEMBER, Server
from tests.harness.stage import Web
from tests.harness.talk import Speaker, check_error, check_success, unique
from tests.harness.visitor import Visitor


def address() -> str:
    return unique("handed").replace(" ", ".") + "@example.com"


@pytest.fixture(scope="module")
def mute(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web process that sends no mail."""
    web = Web(server, tmp_path_factory.mktemp("mute"), mail_folder="").wait()
    try:
        yield web
    finally:
        web.stop()


@pytest.fixture
def owner(realm: Realm, mute: Web) -> Speaker:
    return realm.as_user(realm.owner.user, url=mute.url)


def key_in(link: str) -> str:
    return link.rpartition("/join/")[2]


def test_where_no_mail_is_sent_an_administrator_hands_a_link_to_each_address(
    realm: Realm, owner: Speaker, visitor: Visitor
) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    first, second = address(), address()
    answer = owner.post("invites/personal", invitee_emails=f"{first}, {second}", stream_ids=[channel.stream_id])
    links = {each["email"]: each["link_url"] for each in answer["invite_links"]}
    assert set(links) == {first, second}
    assert {(one["email"], one["is_multiuse"]) for one in owner.get("invites")["invites"]} == {
        (first, False),
        (second, False),
    }
    assert visitor.get(f"signups/{key_in(links[first])}")["email"] == first
    visitor.join(key_in(links[first]))
    me = visitor.get("users/me")
    assert (me["delivery_email"], me["role"]) == (first, MEMBER)
    assert [one["stream_id"] for one in visitor.get("users/me/subscriptions")["subscriptions"]] == [channel.stream_id]
    check_error(visitor.sign_up(key_in(links[first])), "INVITATION_INVALID")


def test_of_addresses_for_links_all_can_be_invited_or_none_is(realm: Realm, owner: Speaker) -> None:
    asked = f"{address()}, {realm.member.email}, nonsense"
    reply = owner.request("POST", "invites/personal", invitee_emails=asked)
    assert (reply.status_code, reply.json()["code"]) == (400, "INVITATION_FAILED")
    assert {each[0] for each in reply.json()["errors"]} == {realm.member.email, "nonsense"}
    assert owner.get("invites")["invites"] == []


def test_only_administrators_vouch_for_addresses_and_only_where_no_mail_is_sent(realm: Realm, mute: Web) -> None:
    member = realm.as_user(realm.member.user, url=mute.url)
    check_error(member.request("POST", "invites/personal", invitee_emails=address()), "UNAUTHORIZED_PRINCIPAL")
    check_error(realm.owner.request("POST", "invites/personal", invitee_emails=address()), "MAIL_IS_SENT")


def test_a_link_that_was_handed_over_is_void_once_its_maker_is_no_administrator(
    realm: Realm, owner: Speaker, mute: Web, visitor: Visitor
) -> None:
    helper = realm.speaker(ADMINISTRATOR)
    asked = realm.as_user(helper.user, url=mute.url).post("invites/personal", invitee_emails=address())
    key = key_in(asked["invite_links"][0]["link_url"])
    assert visitor.get(f"signups/{key}")["email"]
    check_success(owner.request("PATCH", f"users/{helper.user.user_id}", role=MEMBER))
    check_error(visitor.request("GET", f"signups/{key}"), "INVITATION_INVALID")
    check_error(visitor.sign_up(key), "INVITATION_INVALID")
    check_success(owner.request("PATCH", f"users/{helper.user.user_id}", role=ADMINISTRATOR))
    visitor.join(key)


def test_where_no_mail_is_sent_no_invitation_is_sent_again(owner: Speaker) -> None:
    owner.post("invites/personal", invitee_emails=address())
    [waiting] = owner.get("invites")["invites"]
    check_error(owner.request("POST", f"invites/{waiting['id']}/resend"), "NO_MAIL")


@pytest.mark.parametrize(("asked", "met"), [("de-AT,en;q=0.5", "de"), ("eo, pt-BR;q=0.8", "pt"), ("eo", "fr")])
def test_a_newcomer_is_met_in_the_language_of_their_browser(
    realm: Realm, visitor: Visitor, folder_of_mails: Path, asked: str, met: str
) -> None:
    check_success(realm.owner.request("PATCH", "realm", default_language="fr"))
    email = address()
    check_success(realm.owner.request("POST", "invites", invitee_emails=email, stream_ids=[]))
    visitor.http.headers["accept-language"] = asked
    visitor.join(mailed(folder_of_mails, email, r"http://\S+/join/(\S+)")[-1])
    state = visitor.request("POST", "register", fetch_event_types=["user_settings"]).json()
    assert state["user_settings"]["default_language"] == met
