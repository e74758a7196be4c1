"""Who may have a file, and how it is handed out."""

import time

import pytest

from tests.harness.browser import Browser, person
from tests.harness.channels import make
from tests.harness.files import fetch, may_fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import check_error, check_success

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


def test_a_file_is_its_owner_s_alone_until_a_message_links_it(realm: Realm) -> None:
    url = upload(realm.member)
    channel = make(realm, realm.member, realm.owner)
    assert may_fetch(realm.member, url)
    assert not may_fetch(realm.owner, url)
    # Whoever has no right to a file cannot get one by naming it.
    realm.owner.send(channel.stream_id, "topic", f"[mine?]({url})")
    assert not may_fetch(realm.owner, url)
    message = realm.member.send(channel.stream_id, "topic", f"[mine]({url})")
    assert may_fetch(realm.owner, url)
    assert may_fetch(realm.moderator, url)  # a public channel
    assert not may_fetch(realm.guest, url)
    # Who may read it may pass it on.
    realm.owner.send([realm.guest.id], content=f"[passed on]({url})")
    assert may_fetch(realm.guest, url)
    check_success(realm.member.request("DELETE", f"messages/{message}"))
    assert not may_fetch(realm.moderator, url)
    assert may_fetch(realm.owner, url)  # of the direct message


@pytest.mark.parametrize("kind", ["shared", "protected"])
def test_files_in_private_channels(realm: Realm, kind: str) -> None:
    early, late, left = realm.speaker(), realm.speaker(), realm.speaker()
    channel = make(realm, realm.member, early, left, kind=kind)
    url = upload(realm.member)
    realm.member.send(channel.stream_id, "topic", f"[file]({url})")
    realm.stage.add(channel, late)
    realm.stage.remove(channel, left)
    for speaker in (realm.owner, realm.guest, left):
        assert not may_fetch(speaker, url)
    assert may_fetch(early, url)
    assert may_fetch(late, url) == (kind == "shared")


def test_an_edit_and_a_move_change_who_may_have_a_file(realm: Realm) -> None:
    public, private = make(realm, realm.member), make(realm, realm.member, kind="shared")
    url = upload(realm.member)
    message = realm.member.send(public.stream_id, "topic", f"[file]({url})")
    assert may_fetch(realm.moderator, url)
    check_success(
        realm.owner.request("PATCH", "realm", can_move_messages_between_channels_group={"new": _members(realm)})
    )
    check_success(realm.member.request("PATCH", f"messages/{message}", stream_id=private.stream_id))
    assert not may_fetch(realm.moderator, url)
    detached = check_success(realm.member.request("PATCH", f"messages/{message}", content="nothing"))[
        "detached_uploads"
    ]
    [one] = realm.member.get("attachments")["attachments"]
    assert detached == [one]
    assert one["message_ids"] == []
    again = check_success(realm.member.request("PATCH", f"messages/{message}", content=f"[again]({url})"))
    assert again["detached_uploads"] == []
    assert realm.member.get("attachments")["attachments"][0]["message_ids"] == [message]


def test_another_organization_has_no_way_to_a_file(realm: Realm, stage: Stage) -> None:
    url = upload(realm.member)
    stranger = Realm(stage).owner
    assert not may_fetch(stranger, url)
    check_error(stranger.request("GET", url.removeprefix("/")), "NOT_FOUND", 404)
    nobody = stage.nobody(host=realm.host)
    assert fetch(nobody, url).status_code == fetch(nobody, url[:-9] + "other.txt").status_code == 401


def test_a_browser_s_session_is_enough(stage: Stage, server: Server) -> None:
    browser, stranger = Browser(server.url), Browser(server.url)
    try:
        browser.log_in(person(stage))
        token = browser.csrf_token or ""
        refused = browser.http.post("user_uploads", files={"f": ("a.txt", b"mine")})
        assert (refused.status_code, refused.json()["code"]) == (403, "CSRF_FAILED")
        sent = browser.http.post("user_uploads", files={"f": ("a.txt", b"mine")}, headers={"X-CSRF-Token": token})
        url = server.url + check_success(sent)["url"]
        assert browser.http.get(url).content == b"mine"
        assert stranger.http.get(url).status_code == 401
        stranger.log_in(person(stage))
        assert stranger.http.get(url).status_code == 404
    finally:
        browser.http.close()
        stranger.http.close()


def test_spectators_see_what_is_on_the_web(realm: Realm, stage: Stage, other_web: Web) -> None:
    check_success(realm.owner.request("PATCH", "realm", enable_spectator_access=True))
    channel, other = make(realm, realm.member, kind="web-public"), make(realm, realm.member)
    nobody = stage.nobody(url=other_web.url, host=realm.host)
    open_url, closed_url = upload(realm.member), upload(realm.member)
    realm.member.send(channel.stream_id, "topic", f"[file]({open_url})")
    realm.member.send(other.stream_id, "topic", f"[file]({closed_url})")
    assert fetch(nobody, open_url).content == b"content"
    assert not may_fetch(nobody, closed_url)
    closed = stage.nobody(host=realm.host)
    assert fetch(closed, open_url).status_code == 401  # this server has it off


def test_parts_and_revalidation(realm: Realm) -> None:
    url = upload(realm.member, "digits.bin", b"0123456789")
    whole = fetch(realm.member, url)
    etag = whole.headers["etag"]
    assert (whole.status_code, whole.content, whole.headers["accept-ranges"]) == (200, b"0123456789", "bytes")
    cases = {"bytes=0-0": b"0", "bytes=2-4": b"234", "bytes=7-": b"789", "bytes=-3": b"789", "bytes=8-99": b"89"}
    for asked, expected in cases.items():
        reply = fetch(realm.member, url, range=asked)
        assert (reply.status_code, reply.content) == (206, expected), asked
        assert reply.headers["content-length"] == str(len(expected))
    assert fetch(realm.member, url, range="bytes=2-4").headers["content-range"] == "bytes 2-4/10"
    for ignored in ("bytes=0-1,3-4", "lines=1-2", "bytes=5-2", "bytes=-", "nonsense"):
        assert fetch(realm.member, url, range=ignored).status_code == 200, ignored
    for beyond in ("bytes=10-", "bytes=99-100", "bytes=-0"):
        reply = fetch(realm.member, url, range=beyond)
        assert (reply.status_code, reply.headers["content-range"]) == (416, "bytes */10"), beyond
    assert fetch(realm.member, url, range="bytes=0-0", if_range='"other"').status_code == 200
    assert fetch(realm.member, url, range="bytes=0-0", if_range=etag).status_code == 206
    unchanged = fetch(realm.member, url, if_none_match=etag)
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    head = fetch(realm.member, url, "HEAD")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "10")


def test_what_a_browser_may_do_with_a_file(realm: Realm) -> None:
    shown = fetch(realm.member, upload(realm.member, "räv.png", PNG))
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["content-disposition"] == "inline; filename=\"r_v.png\"; filename*=UTF-8''r%C3%A4v.png"
    kept = fetch(realm.member, upload(realm.member, "page.html", b"<script>alert(1)</script>"))
    assert kept.headers["content-type"] == "application/octet-stream"
    assert kept.headers["content-disposition"].startswith("attachment;")
    for reply in (shown, kept):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in reply.headers["content-security-policy"]
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["cache-control"] == "private, no-cache"


def test_a_temporary_link_needs_no_login_and_ends(realm: Realm, stage: Stage) -> None:
    url = upload(realm.member, "räv.txt", b"tail")
    nobody = stage.nobody(host=realm.host)
    check_error(realm.owner.request("GET", url.removeprefix("/")), "NOT_FOUND", 404)
    link = realm.member.get(url.removeprefix("/"))["url"]
    assert fetch(nobody, link).content == b"tail"
    head, ticket, name = link.rsplit("/", 2)
    until, sign = ticket.split("-")
    assert time.time() + 50 < int(until) <= time.time() + 61
    for forged in (f"{int(until) + 1}-{sign}", f"{until}-{'0' * 64}", f"{int(until) - 120}-{sign}", "x"):
        assert fetch(nobody, f"{head}/{forged}/{name}").status_code == 404
    assert fetch(nobody, f"{head}/{ticket}/other.txt").status_code == 404
    [one] = realm.member.get("attachments")["attachments"]
    realm.member.delete(f"attachments/{one['id']}")
    assert fetch(nobody, link).status_code == 404


def _members(realm: Realm) -> int:
    groups = realm.owner.get("user_groups")["user_groups"]
    return next(int(group["id"]) for group in groups if group["name"] == "role:members")
