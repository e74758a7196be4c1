"""Past advisories, classes XS and DS: what a request may contain, and what answers look like (docs/reference/advisories.md)."""

import json
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.features.tables.endpoint_table import TABLE
from tests.harness.channels import make
from tests.harness.demo_api import Demo, served
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.talk import check_error, check_success, unique

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with served(Demo()) as demo:
        yield demo


def test_xs_02_pages_show_what_came_from_outside_as_text(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", "realm", name=f"Tea {SCRIPT}"[:40], invite_required=False))
    http, root = realm.stage.nobody(host=realm.host).http, realm.stage.server.url
    for path in (
        f"/accounts/password/reset/{SCRIPT}",
        f"/accounts/email/confirm/{SCRIPT}",
        f"/join/{SCRIPT}?plain=true",
        f"/join?plain=true&email={SCRIPT}",
        f"/accounts/login/oidc/{SCRIPT}",
        f"/accounts/login/link/{SCRIPT}",
        f"/{SCRIPT}",
    ):
        reply = http.get(root + path)
        assert SCRIPT not in reply.text, path
        if "html" in reply.headers["content-type"]:
            assert "script-src 'self'" in reply.headers["content-security-policy"] or (
                "default-src 'none'" in reply.headers["content-security-policy"]
            )
    page = http.post(f"{root}/join/address", data={"email": SCRIPT}, headers={"origin": f"http://{realm.host}"})
    assert SCRIPT not in page.text


def test_xs_07_no_answer_of_the_api_can_be_taken_for_a_page(realm: Realm) -> None:
    http, root = realm.member.http, realm.stage.server.url
    for key in TABLE:
        method, _, path = key.partition(" ")
        outside, _, path = path.rpartition(" ")
        if outside:
            continue
        path = path.replace("{", "<b>").replace("}", "</b>")
        reply = http.request(method, f"{root}/api/v1{path}", params={"content": SCRIPT, "stream": SCRIPT, "x": SCRIPT})
        assert reply.headers["x-content-type-options"] == "nosniff", key
        assert reply.headers["content-type"] in ("application/json", "text/plain", "text/plain; charset=utf-8"), key


@pytest.mark.parametrize("text", ["*a " * 3000, "a" * 9_000, '"' + "a " * 300 + '"', "\\" * 900, "[" * 900, "a*" * 450])
def test_ds_04_a_search_and_an_alert_word_cost_as_much_as_their_length(realm: Realm, text: str) -> None:
    channel = make(realm, realm.member)
    check_success(realm.member.request("POST", "users/me/alert_words", alert_words=[text[:90]]))
    sent = realm.member.send(channel.stream_id, "topic", (text * 20)[:9_900])
    narrow = json.dumps([{"operator": "search", "operand": text[:900]}])
    began = time.monotonic()
    reply = realm.member.http.get("messages", params={"anchor": "newest", "num_before": 10, "narrow": narrow})
    assert reply.status_code in (200, 400), reply.text
    assert realm.member.request("GET", "messages/matches_narrow", msg_ids=[sent], narrow=narrow).status_code in (
        200,
        400,
    )
    assert time.monotonic() - began < 20  # a pattern that backtracks would take hours


def test_ds_08_one_broken_row_keeps_nobody_from_reading_the_others(realm: Realm) -> None:
    channel = make(realm, realm.member)
    good, bad, poll, last = (
        realm.member.send(channel.stream_id, "topic", text) for text in ("good", "bad", "/poll Tea?\nyes", "last")
    )
    stage = realm.stage
    stage.sql("update message set rendered = '<p><b' where id = %s", bad)
    stage.sql("update submessage set content = 'no JSON' where message_id = %s", poll)
    for markdown in (True, False):
        narrow = [{"operator": "channel", "operand": channel.stream_id}]
        found = realm.member.window(before=10, narrow=narrow, apply_markdown=markdown)["messages"]
        assert [message["id"] for message in found] == [good, bad, poll, last]
    with realm.member.register(event_types=["message", "update_message"]) as queue:
        check_success(realm.member.request("PATCH", f"messages/{bad}", content="mended"))
        assert queue.until(lambda event: event["type"] == "update_message")[-1]["content"] == "mended"


def test_ds_10_a_password_of_a_megabyte_opens_nothing_and_sets_nothing(realm: Realm) -> None:
    huge = "x" * 1_000_000
    nobody = realm.stage.nobody(host=realm.host)
    login = {"username": realm.member.email}
    check_error(nobody.request("POST", "fetch_api_key", **login, password=huge), "PAYLOAD_TOO_LARGE", 413)
    check_error(nobody.request("POST", "fetch_api_key", **login, password=huge[:200_000]))
    check_error(nobody.request("POST", "fetch_api_key", **login, password=huge[:20_000]), "AUTHENTICATION_FAILED", 401)
    email = unique("person").replace(" ", ".") + "@example.com"
    check_error(realm.owner.request("POST", "users", email=email, password=huge, full_name="Ada"))
    check_success(realm.owner.request("POST", "users", email=email, password=PASSWORD, full_name="Ada"))


def parts(count: int, header: bytes = b"") -> bytes:
    one = b'--b\r\nContent-Disposition: form-data; name="text"\r\n' + header + b"\r\nx\r\n"
    return one * count + b"--b--\r\n"


@pytest.mark.parametrize(
    "body",
    [
        parts(3_000),
        parts(1, b"X: y\r\n" * 5_000),
        parts(1, b"X" * 150_000 + b": y\r\n"),
        parts(1, b"X: " + b"y" * 150_000 + b"\r\n"),
        parts(30).replace(b'name="text"', b'name="text"; filename="x"'),
        parts(1).replace(b'name="text"', b"name=text" + b'; x="\\"' * 5_000),
        b"--b\r\n" * 30_000,
        b"--b" + b"\r" * 150_000,
    ],
    ids=["parts", "headers", "a long name", "a long value", "files", "options", "boundaries", "returns"],
)
def test_ds_22_a_multipart_body_without_measure_is_refused_at_once(demo: Demo, body: bytes) -> None:
    began = time.monotonic()
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    reply = httpx.post(f"http://127.0.0.1:{demo.port}/api/v1/echo", content=body, headers=headers, trust_env=False)
    assert reply.status_code in (400, 413), reply.text
    assert time.monotonic() - began < 20


SMUGGLED = b"GET /api/v1/echo?text=smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        b"Content-Length: 4\r\nContent-Length: 40\r\n",
        b"Content-Length: +4\r\n",
        b"Content-Length: 0x4\r\n",
        b"Content-Length: 4_0\r\n",
        b"Content-Length: 4,4\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length : 4\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: identity, chunked, identity\r\n",
        b" Content-Length: 4\r\n",
    ],
)
def test_ds_25_a_body_has_one_length_that_everybody_reads_alike(demo: Demo, headers: bytes) -> None:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.sendall(b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n0\r\n\r\n" + SMUGGLED)
        connection.settimeout(5)
        told = b""
        while part := connection.recv(65536):
            told += part
            if b"smuggled" in told:
                break
    assert b"smuggled" not in told
    assert told.startswith(b"HTTP/1.1 400"), told[:200]


@pytest.mark.parametrize("size", [b"0x5", b"+5", b"-5", b"5_", b" 5", b"", b"fffffffffffffffff"])
def test_ds_25_the_size_of_a_chunk_is_hexadecimal_digits(demo: Demo, size: bytes) -> None:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        begin = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(begin + size + b"\r\ntext=\r\n0\r\n\r\n" + SMUGGLED)
        connection.settimeout(5)
        told = b""
        while part := connection.recv(65536):
            told += part
    assert told.startswith(b"HTTP/1.1 400"), told[:200]
    assert b"smuggled" not in told
