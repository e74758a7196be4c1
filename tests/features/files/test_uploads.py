"""Uploading files: what is taken, what it is called, how much of it."""

import base64
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from tests.harness.files import fetch, post_file, upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Queue, check_error, check_success, eventually

MIB = 1024 * 1024
NAMES = [
    ("räksmörgås.txt", "räksmörgås.txt"),
    ("日本語.png", "日本語.png"),
    ("../../etc/passwd", "passwd"),
    ("C:\\Windows\\system.ini", "system.ini"),
    ("..", "file"),
    ("...", "file"),
    ("my notes  (1).txt", "my-notes-1.txt"),
    ("a\u202egnp.exe", "agnp.exe"),
    ("x\u200b.png", "x.png"),
    ("%2e%2e%2fx", "2e2e2fx"),
    (".htaccess", "htaccess"),
    ("a" * 300 + ".tar.gz", None),
    ("😀.gif", "😀.gif"),
    ("<script>.html", "script.html"),
    ('q"uote.txt', "quote.txt"),
]


@pytest.mark.parametrize("field", ["file", "files", "filename", "/home/me/notes.txt"])
def test_one_file_under_any_field_name(realm: Realm, field: str) -> None:
    body = check_success(post_file(realm.member, "notes.txt", b"words", field))
    assert body["filename"] == "notes.txt"
    assert body["url"].startswith(f"/user_uploads/{realm.id}/")
    assert body["url"].count("/") == 5
    assert fetch(realm.member, body["url"]).content == b"words"


def test_exactly_one_file(realm: Realm) -> None:
    check_error(realm.member.http.post("user_uploads", data={"a": "b"}))
    check_error(realm.member.http.post("user_uploads"))
    check_error(realm.member.http.post("user_uploads", content=b"x", headers={"content-type": "text/plain"}))
    check_error(realm.member.http.post("user_uploads", files={"note": (None, b"no file")}))
    two = {"a": ("a.txt", b"a"), "b": ("b.txt", b"b")}
    check_error(realm.member.http.post("user_uploads", files=two))
    large = {"a": ("a.txt", b"a" * 6 * MIB), "b": ("b.txt", b"b")}
    check_error(realm.member.http.post("user_uploads", files=large))
    assert realm.member.get("attachments")["attachments"] == []


def test_surplus_parameters_are_ignored_and_said_to_be(realm: Realm) -> None:
    reply = realm.member.http.post("user_uploads?size=3", data={"before": "1"}, files={"f": ("a.txt", b"abc")})
    assert check_success(reply)["ignored_parameters_unsupported"] == ["before", "size"]


def test_a_body_that_breaks_off_is_no_upload(realm: Realm) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf'
    kind = {"content-type": "multipart/form-data; boundary=x"}
    check_error(realm.member.http.post("user_uploads", content=body, headers=kind))
    fields = b'--x\r\nContent-Disposition: form-data; name="f"\r\n\r\n' + b"x" * 100_000 + b"\r\n--x--\r\n"
    check_error(realm.member.http.post("user_uploads", content=fields, headers=kind))
    assert realm.member.get("attachments")["attachments"] == []


def test_names_lose_what_could_do_harm(stage: Stage) -> None:
    member = stage.speaker()
    for sent, kept in NAMES:
        url = upload(member, sent, b"x")
        name = unquote(url.rpartition("/")[2])
        assert kept is None or name == kept
        assert len(name.encode()) <= 200
        assert fetch(member, url).status_code == 200
        listed = member.get("attachments")["attachments"][-1]
        assert f"/user_uploads/{listed['path_id']}" == unquote(url)


def test_one_s_own_files_are_listed_and_deleted(realm: Realm) -> None:
    with Queue(realm.member, event_types=["attachment", "message"], fetch_event_types=[]) as queue:
        url = upload(realm.member, "a.txt", b"12345")
        listed = realm.member.get("attachments")
        [one] = listed["attachments"]
        assert (one["name"], one["size"], one["message_ids"]) == ("a.txt", 5, [])
        assert one["create_time"] > 1_700_000_000_000
        assert listed["upload_space_used"] == 5
        assert realm.owner.get("attachments") == listed | {"attachments": []}
        check_error(realm.owner.request("DELETE", f"attachments/{one['id']}"))
        check_error(realm.member.request("DELETE", "attachments/999999999"))
        realm.member.delete(f"attachments/{one['id']}")
        check_error(realm.member.request("DELETE", f"attachments/{one['id']}"))
        assert realm.member.get("attachments")["upload_space_used"] == 0
        assert fetch(realm.member, url).status_code == 404
        added, removed = [event for event in queue.so_far() if event["type"] == "attachment"]
    assert (added["op"], added["attachment"], added["upload_space_used"]) == ("add", one, 5)
    assert (removed["op"], removed["attachment"], removed["upload_space_used"]) == ("remove", {"id": one["id"]}, 0)


def test_limits_are_published_and_kept(realm: Realm, other_web: Web) -> None:
    member = realm.as_user(realm.member.user, url=other_web.url)
    state = member.post("register", fetch_event_types=["realm"], event_types=[])
    assert (state["max_file_upload_size_mib"], state["realm_upload_quota_mib"]) == (1, 2)
    assert (
        realm.owner.post("register", fetch_event_types=["realm"], event_types=[])["realm_upload_quota_mib"] == 10 * 1024
    )
    for size in (MIB + 1, 3 * MIB, 40 * MIB):
        assert "1 MiB" in check_error(post_file(member, "large.bin", b"x" * size))
    upload(member, "just.bin", b"x" * MIB)
    check_success(post_file(member, "empty.bin", b""))
    assert member.get("attachments")["upload_space_used"] == MIB


def test_of_two_who_race_for_the_last_of_the_quota_one_wins(realm: Realm, other_web: Web) -> None:
    people = [realm.speaker(url=other_web.url) for _ in range(6)]
    upload(people[0], "first.bin", b"x" * MIB)
    start = threading.Barrier(len(people))

    def race(index: int) -> int:
        start.wait()
        return post_file(people[index], "race.bin", b"x" * (MIB - 100)).status_code

    with ThreadPoolExecutor(len(people)) as pool:
        answers = sorted(pool.map(race, range(len(people))))
    assert answers == [200] + [400] * (len(people) - 1)
    assert people[0].get("attachments")["upload_space_used"] == 2 * MIB - 100
    check_error(post_file(people[1], "one-more.bin", b"x" * 101), "REALM_UPLOAD_QUOTA")
    upload(people[2], "fits.bin", b"x" * 100)


@pytest.fixture(scope="module")
def sharing_web(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A web process with 2 MiB for each organization: a person has a tenth of it."""
    web = Web(server, shared_folder, upload_quota_mib=2)
    try:
        yield web.wait()
    finally:
        web.stop()


SHARE = 2 * MIB // 10


def test_one_person_with_their_bots_has_a_share_of_the_quota(realm: Realm, sharing_web: Web) -> None:
    member, other, owner = (
        realm.as_user(one.user, url=sharing_web.url) for one in (realm.member, realm.speaker(), realm.owner)
    )
    made = member.post("bots", full_name="Bot", short_name="bot")
    bot = httpx.BasicAuth(member.get(f"users/{made['user_id']}")["user"]["email"], made["api_key"])
    files = {"file": ("bot.bin", b"x" * 150_000)}
    assert member.http.post("user_uploads", files=files, auth=bot).status_code == 200
    # A large one ends on its way, one that would just not fit at its end.
    for size in (1_900_000, SHARE - 150_000 + 1):
        told = check_error(post_file(member, "more.bin", b"x" * size), "REALM_UPLOAD_QUOTA")
        assert "your share" in told
    assert member.http.post("user_uploads", files=files, auth=bot).status_code == 400
    upload(member, "fits.bin", b"x" * (SHARE - 150_000))
    upload(other, "other.bin", b"x" * SHARE)
    upload(owner, "owner.bin", b"x" * (SHARE + 1))
    [listed] = member.get("attachments")["attachments"]
    member.delete(f"attachments/{listed['id']}")
    upload(member, "again.bin", b"x" * (SHARE - 150_000))


def test_of_a_share_empty_files_take_a_little_each(realm: Realm, sharing_web: Web) -> None:
    member = realm.as_user(realm.member.user, url=sharing_web.url)
    upload(member, "most.bin", b"x" * (SHARE - 2 * 4096))
    for _ in range(2):
        check_success(post_file(member, "empty.bin", b""))
    assert "your share" in check_error(post_file(member, "empty.bin", b""), "REALM_UPLOAD_QUOTA")


def test_of_many_at_once_no_more_fit_into_a_share_than_one_after_another(realm: Realm, sharing_web: Web) -> None:
    member = realm.as_user(realm.member.user, url=sharing_web.url)
    tries = [lambda: post_file(member, "race.bin", b"x" * (SHARE // 2)) for _ in range(6)]
    assert sorted(reply.status_code for reply in at_once(tries)) == [200] * 2 + [400] * 4


def test_an_upload_that_dies_with_its_process_leaves_nothing(realm: Realm, passing_web: Web) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files can be seen only where the server runs")
    member = realm.as_user(realm.member.user, url=passing_web.url)
    (host, port), size = passing_web.url.removeprefix("http://").split(":"), 20 * MIB
    basic = base64.b64encode(f"{member.email}:{member.user.api_key}".encode()).decode()
    head = (
        f"POST /api/v1/user_uploads HTTP/1.1\r\nHost: {realm.host}\r\nAuthorization: Basic {basic}\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {size}\r\n\r\n"
        '--x\r\nContent-Disposition: form-data; name="f"; filename="a.bin"\r\n\r\n'
    )
    folder = server.files / "uploads" / str(realm.id)
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + b"x" * (12 * MIB))
        while not [path for path in folder.rglob("*#*") if path.stat().st_size]:
            time.sleep(0.02)
        passing_web.kill()
    listed = realm.member.get("attachments")
    assert (listed["attachments"], listed["upload_space_used"]) == ([], 0)
    realm.stage.sql("update orphan_object set due = now() where key like %s", f"uploads/{realm.id}/%")
    eventually(lambda: not [path for path in folder.rglob("*") if path.is_file()])
