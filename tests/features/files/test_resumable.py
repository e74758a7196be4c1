"""Uploads that can be resumed: tus 1.0, on a disk and in a bucket."""

import base64
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.harness.bucket import Bucket, s3_service
from tests.harness.files import fetch, may_fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_success, eventually

MIB = 1024 * 1024
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture(scope="module")
def bucket_web(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A web process that keeps its files in a bucket."""
    with s3_service(shared_folder) as address:
        bucket = Bucket(address, "tus")
        web = Web(server, shared_folder, **bucket.settings)
        try:
            yield web.wait()
        finally:
            web.kill()
            bucket.http.close()


@pytest.fixture(params=["disk", "bucket"])
def member(request: pytest.FixtureRequest, realm: Realm) -> Speaker:
    if request.param == "disk":
        return realm.member
    return realm.as_user(realm.member.user, url=request.getfixturevalue("bucket_web").url)


def ask(speaker: Speaker, method: str, path: str, body: bytes = b"", **headers: Any) -> httpx.Response:
    sent = TUS | {name.replace("_", "-"): str(value) for name, value in headers.items()}
    return speaker.http.request(method, httpx.URL(speaker.http.base_url).join(path), content=body, headers=sent)


def begin(speaker: Speaker, size: int, name: str = "large.bin") -> str:
    metadata = f"filename {base64.b64encode(name.encode()).decode()},filetype dGV4dC9wbGFpbg=="
    reply = ask(speaker, "POST", "/api/v1/tus/", Upload_Length=size, Upload_Metadata=metadata)
    assert (reply.status_code, reply.headers["tus-resumable"], reply.headers["upload-offset"]) == (201, "1.0.0", "0")
    assert reply.headers["upload-expires"].endswith("GMT")
    return reply.headers["location"]


def send(speaker: Speaker, where: str, offset: int, body: bytes) -> httpx.Response:
    return ask(speaker, "PATCH", where, body, Upload_Offset=offset, Content_Type="application/offset+octet-stream")


def offset(speaker: Speaker, where: str) -> int:
    reply = ask(speaker, "HEAD", where)
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    return int(reply.headers["upload-offset"])


def test_a_file_in_parts(member: Speaker) -> None:
    content = secrets.token_bytes(9 * MIB + 17)
    where = begin(member, len(content), "räv.bin")
    at = 0
    for size in (100, 5 * MIB, 1):
        reply = send(member, where, at, content[at : at + size])
        at += size
        assert (reply.status_code, reply.headers["upload-offset"], reply.content) == (204, str(at), b"")
        assert offset(member, where) == at
    last = send(member, where, at, content[at:])
    assert last.status_code == 200
    assert last.json()["filename"] == "räv.bin"
    assert fetch(member, last.json()["url"]).content == content
    [one] = member.get("attachments")["attachments"]
    assert (one["name"], one["size"]) == ("räv.bin", len(content))
    # The answer may have been lost: it is given again.
    assert offset(member, where) == len(content)
    assert send(member, where, len(content), b"").json() == last.json()
    assert ask(member, "DELETE", where).status_code == 404


@pytest.mark.timed
def test_what_arrived_before_a_connection_broke_is_kept(member: Speaker) -> None:
    content = secrets.token_bytes(6 * MIB)
    where = begin(member, len(content))
    sent = 5 * MIB + 1000
    with _sending(member, where, content[:sent], len(content)):
        time.sleep(0.5)  # most of it is on its way
    deadline = time.monotonic() + 20
    while (at := offset(member, where)) < 5 * MIB:
        assert time.monotonic() < deadline, at
        time.sleep(0.05)
    assert at <= sent
    last = send(member, where, at, content[at:])
    assert fetch(member, last.json()["url"]).content == content


def test_one_request_at_a_time_continues_an_upload(realm: Realm) -> None:
    member = realm.member
    other = begin(member, 10)
    # Whoever comes first is let in. Where our question was first, what is sent was refused: another upload, and more time for it.
    for patience in range(10):
        where = begin(member, 10)
        with _sending(member, where, b"01234", 10):
            time.sleep(patience * 0.1)
            if send(member, where, 0, b"").status_code == 409:
                assert offset(member, where) == 0  # the other request is in the way, and not what it has brought
                assert send(member, other, 0, b"").status_code == 204
                break
    else:
        pytest.fail("a second request was never a conflict")
    eventually(lambda: offset(member, where) == 5)  # also if nobody had read it when we hung up
    eventually(lambda: send(member, where, 5, b"").status_code == 204)
    assert fetch(member, send(member, where, 5, b"56789").json()["url"]).content == b"0123456789"


def test_another_process_goes_on(realm: Realm, server: Server, passing_web: Web, folder: Path) -> None:
    first = realm.as_user(realm.member.user, url=passing_web.url)
    where = begin(first, 10)
    assert send(first, where, 0, b"01234").status_code == 204
    passing_web.kill()
    assert offset(realm.member, where) == 5
    assert fetch(realm.member, send(realm.member, where, 5, b"56789").json()["url"]).content == b"0123456789"


def test_what_is_refused(realm: Realm, other_web: Web) -> None:
    member = realm.as_user(realm.member.user, url=other_web.url)

    def refused(reply: httpx.Response, status: int) -> None:
        assert reply.status_code == status, reply.text
        assert reply.json()["message"]

    refused(ask(member, "POST", "/api/v1/tus"), 411)
    refused(ask(member, "POST", "/api/v1/tus", Upload_Length="many"), 400)
    refused(ask(member, "POST", "/api/v1/tus", Upload_Length=3, Upload_Metadata="filename !"), 400)
    refused(ask(member, "POST", "/api/v1/tus", Upload_Length=MIB + 1), 413)
    refused(ask(member, "POST", "/api/v1/tus", Upload_Length=1, Tus_Resumable="0.2.0"), 412)
    where = begin(member, 10)
    refused(send(member, where, 3, b"x"), 409)
    refused(send(member, where, 0, b"x" * 11), 413)
    refused(ask(member, "PATCH", where, b"x", Upload_Offset=0, Content_Type="text/plain"), 415)
    refused(ask(member, "PATCH", where, b"x", Content_Type="application/offset+octet-stream"), 400)
    refused(send(member, "/api/v1/tus/none", 0, b"x"), 404)
    stranger = realm.as_user(realm.owner.user, url=other_web.url)
    refused(send(stranger, where, 0, b"x"), 404)
    assert ask(stranger, "HEAD", where).status_code == 404
    assert offset(member, where) == 0


def test_the_quota_decides_in_the_end(realm: Realm, other_web: Web) -> None:
    member = realm.as_user(realm.member.user, url=other_web.url)
    uploads = [begin(member, MIB) for _ in range(2)]
    upload(member, "at-once.bin", b"x" * MIB)
    answers = [send(member, where, 0, b"x" * MIB).status_code for where in uploads]
    assert answers == [200, 413]
    assert member.get("attachments")["upload_space_used"] == 2 * MIB
    assert ask(member, "POST", "/api/v1/tus", Upload_Length=1).status_code == 413
    assert offset(member, uploads[1]) == 0


def test_what_arrived_counts_for_the_share_of_whoever_sent_it(server: Server, realm: Realm, folder: Path) -> None:
    web = Web(server, folder, upload_quota_mib=200)
    try:
        member = realm.as_user(realm.member.user, url=web.wait().url)
        ends = [begin(member, 15 * MIB) for _ in range(2)]
        answers = [send(member, where, 0, b"x" * (14 * MIB)).status_code for where in ends]
        assert answers == [204, 413]
        assert "your share" in ask(member, "POST", "/api/v1/tus", Upload_Length=20 * MIB).text
    finally:
        web.stop()


def test_what_was_only_promised_takes_no_space_from_others(realm: Realm, other_web: Web) -> None:
    member, owner = (realm.as_user(one.user, url=other_web.url) for one in (realm.member, realm.owner))
    promised = [begin(member, MIB) for _ in range(5)]
    where = begin(owner, MIB)
    assert send(owner, where, 0, b"x" * MIB).status_code == 200
    # What has arrived counts, for those who begin and for those who go on.
    assert send(member, promised[0], 0, b"x" * (MIB - 1)).status_code == 204
    assert ask(owner, "POST", "/api/v1/tus", Upload_Length=2).status_code == 413
    assert send(member, promised[1], 0, b"xx").status_code == 413
    assert offset(member, promised[1]) == 0
    assert send(member, promised[1], 0, b"x").status_code == 204
    # A part that is refused is not kept, and what is given up makes room.
    [(left,)] = realm.stage.sql(
        "select count(*) from orphan_object where key like %s and due > now() + interval '2 hours'", f"%/{realm.id}/%"
    )
    assert left == 2
    assert ask(member, "DELETE", promised[0]).status_code == 204
    assert send(member, promised[1], 1, b"xx").status_code == 204


def test_an_upload_in_crumbs_is_refused(realm: Realm) -> None:
    where = begin(realm.member, MIB)
    assert send(realm.member, where, 0, b"x").status_code == 204
    more = "update resumable_upload set arrived = 200, keys = array_fill(keys[1], array[%s]) where owner_id = %s"
    realm.stage.sql(more, 199, realm.member.id)
    assert send(realm.member, where, 200, b"x").status_code == 204
    reply = send(realm.member, where, 201, b"x")
    assert (reply.status_code, offset(realm.member, where)) == (429, 201)
    assert reply.json()["message"]
    realm.stage.sql("update resumable_upload set arrived = %s where owner_id = %s", MIB // 2, realm.member.id)
    assert send(realm.member, where, MIB // 2, b"x").status_code == 204


def test_parts_that_became_a_file_meanwhile_are_a_conflict(realm: Realm) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files can be seen only where the server runs")
    where = begin(realm.member, 10)
    send(realm.member, where, 0, b"01234")
    [([key],)] = realm.stage.sql("select keys from resumable_upload where owner_id = %s", realm.member.id)
    (server.files / key).unlink()
    assert send(realm.member, where, 5, b"56789").status_code == 409


def test_an_upload_is_given_up_or_expires(realm: Realm, stage: Stage) -> None:
    member = realm.member
    where = begin(member, 10)
    send(member, where, 0, b"01234")
    [(keys,)] = stage.sql("select keys from resumable_upload where owner_id = %s", member.id)
    assert ask(member, "DELETE", where).status_code == 204
    assert ask(member, "HEAD", where).status_code == 404
    assert stage.sql("select count(*) from orphan_object where key = any(%s) and due > now()", keys) == [(0,)]
    other = begin(member, 10)
    stage.sql("update resumable_upload set expires_at = now() where owner_id = %s", member.id)
    assert ask(member, "HEAD", other).status_code == 404
    assert send(member, other, 0, b"x").status_code == 404


def test_discovery_and_an_empty_file(realm: Realm) -> None:
    reply = realm.member.http.options("tus")
    assert reply.headers["tus-version"] == "1.0.0"
    assert set(reply.headers["tus-extension"].split(",")) == {"creation", "termination", "expiration"}
    assert "Upload-Offset" in reply.headers["access-control-allow-headers"]
    made = ask(realm.member, "POST", "/api/v1/tus", Upload_Length=0)
    assert made.status_code == 201
    assert fetch(realm.member, made.json()["url"]).content == b""
    assert not may_fetch(realm.owner, made.json()["url"])
    check_success(realm.member.request("GET", "attachments"))


@contextmanager
def _sending(speaker: Speaker, where: str, body: bytes, size: int) -> Iterator[None]:
    """Send less than was promised, and hang up at the end."""
    address = urlsplit(str(speaker.http.base_url))
    basic = base64.b64encode(f"{speaker.email}:{speaker.user.api_key}".encode()).decode()
    head = (
        f"PATCH {where} HTTP/1.1\r\nHost: {speaker.http.headers['host']}\r\nAuthorization: Basic {basic}\r\n"
        f"Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
        f"Content-Length: {size}\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 80)) as connection:
        connection.sendall(head.encode() + body)
        yield
