"""Requests at the edge of HTTP: long ones, odd ones, broken ones (protocol/basics.md#transport)."""

import json
import socket
import ssl
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from tests.harness.talk import Json, Speaker

MAX_TARGET = 256 * 1024
MAX_HEADERS = 64 * 1024
ALL = [10**15 + number for number in range(9000)]
"""More IDs, and longer ones, than anybody has."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Json


def exchange(speaker: Speaker, request: bytes) -> Answer:
    """Send bytes that no HTTP library would send, and read until the server closes."""
    url = speaker.http.base_url
    with socket.create_connection((url.host, url.port or (443 if url.scheme == "https" else 80)), timeout=20) as plain:
        connection = plain
        if url.scheme == "https":
            connection = ssl.create_default_context().wrap_socket(plain, server_hostname=url.host)
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert int(headers["content-length"]) == len(body)
    return Answer(int(status.split()[1]), headers, json.loads(body))


def request(speaker: Speaker, target: str, *, method: str = "GET", headers: str = "", body: str = "") -> bytes:
    """A request of somebody, as it travels; the connection is closed after it."""
    [sent] = speaker.http.auth.sync_auth_flow(speaker.http.build_request("GET", ""))  # type: ignore[union-attr]
    own = f"Authorization: {sent.headers['authorization']}\r\nHost: {sent.headers['host']}\r\nConnection: close\r\n"
    length = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n" if body else ""
    path = speaker.http.base_url.path
    return f"{method} {path}{target} HTTP/1.1\r\n{own}{headers}{length}\r\n{body}".encode()


def check_refused(answer: Answer, status: int, code: str) -> str:
    """The text of an error with this status and code, in our envelope."""
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert answer.headers["x-request-id"]
    assert (answer.body["result"], answer.body["code"]) == ("error", code)
    msg = answer.body["msg"]
    assert isinstance(msg, str)
    return msg


CALLS = {
    "messages/matches_narrow": {"msg_ids": json.dumps(ALL), "narrow": "[]"},
    "users": {"user_ids": json.dumps(ALL)},
}


@pytest.mark.holds("transport.target", "matches-narrow.many", "users.user-ids")
@pytest.mark.parametrize("path", CALLS)
def test_nine_thousand_long_ids_fit_into_the_address(member: Speaker, path: str) -> None:
    answer = exchange(member, request(member, f"{path}?{urlencode(CALLS[path])}"))
    assert (answer.status, answer.body["result"]) == (200, "success")


@pytest.mark.holds("transport.target-or-body")
@pytest.mark.parametrize("path", CALLS)
def test_nine_thousand_long_ids_may_be_sent_in_the_body_of_a_get(member: Speaker, path: str) -> None:
    answer = exchange(member, request(member, path, body=urlencode(CALLS[path])))
    assert (answer.status, answer.body["result"]) == (200, "success")


@pytest.mark.holds("matches-narrow.many")
def test_at_most_ten_thousand_messages_are_matched(member: Speaker) -> None:
    for count, status in ((10_000, 200), (10_001, 400)):
        body = urlencode({"msg_ids": json.dumps([1] * count), "narrow": "[]"})
        assert exchange(member, request(member, "messages/matches_narrow", body=body)).status == status


@pytest.mark.holds("transport.target-or-body")
def test_a_get_reads_what_its_body_says(member: Speaker) -> None:
    own = member.send([member.id])
    fields = {"msg_ids": json.dumps([own, *ALL[:10]]), "narrow": '[{"operator": "is", "operand": "dm"}]'}
    answer = exchange(member, request(member, "messages/matches_narrow", body=urlencode(fields)))
    assert list(answer.body["messages"]) == [str(own)]
    found = exchange(member, request(member, "users", body=urlencode({"user_ids": f"[{member.id}]"}))).body
    assert [user["user_id"] for user in found["members"]] == [member.id]


@pytest.mark.holds("transport.target")
def test_a_target_of_256_kib_is_the_longest_that_is_read(member: Speaker) -> None:
    start = f"{member.http.base_url.path}users/me?stray="
    longest = "x" * (MAX_TARGET - len(start))
    answer = exchange(member, request(member, f"users/me?stray={longest}"))
    assert (answer.status, answer.body["ignored_parameters_unsupported"]) == (200, ["stray"])
    msg = check_refused(exchange(member, request(member, f"users/me?stray={longest}x")), 414, "URI_TOO_LONG")
    assert str(MAX_TARGET) in msg


@pytest.mark.holds("transport.target")
@pytest.mark.parametrize("length", [70_000, 3_000_000])
def test_a_path_or_query_that_is_too_long_is_414_in_json(member: Speaker, length: int) -> None:
    check_refused(exchange(member, request(member, "x" * length)), 414, "URI_TOO_LONG")
    check_refused(exchange(member, request(member, f"users?x={'x' * 200_000 + 'x' * length}")), 414, "URI_TOO_LONG")


@pytest.mark.holds("transport.headers")
@pytest.mark.parametrize("lines", ["X-Long: {}\r\n", "X-Long: {}\r\n" * 100])
def test_headers_over_64_kib_are_431_in_json(member: Speaker, lines: str) -> None:
    surplus = lines.replace("{}", "x" * (MAX_HEADERS // lines.count("{}")))
    check_refused(exchange(member, request(member, "users/me", headers=surplus)), 431, "HEADERS_TOO_LARGE")
    check_refused(exchange(member, request(member, "users/me", headers=surplus * 40)), 431, "HEADERS_TOO_LARGE")
    half = lines.replace("{}", "x" * (MAX_HEADERS // 2 // lines.count("{}")))
    assert exchange(member, request(member, "users/me", headers=half)).status == 200


@pytest.mark.holds("transport.headers")
def test_more_than_200_headers_are_431_in_json(member: Speaker) -> None:
    check_refused(exchange(member, request(member, "users/me", headers="X: y\r\n" * 200)), 431, "HEADERS_TOO_LARGE")
    assert exchange(member, request(member, "users/me", headers="X: y\r\n" * 190)).status == 200


@pytest.mark.holds("transport.host")
@pytest.mark.parametrize("name", ["Host", "hOST", "Authorization", "Content-Type"])
def test_a_header_that_decides_something_comes_once(member: Speaker, name: str) -> None:
    twice = f"{name}: localhost\r\n" * (1 if name.lower() in ("host", "authorization") else 2)
    msg = check_refused(exchange(member, request(member, "users/me", headers=twice)), 400, "BAD_REQUEST")
    assert "more than once" in msg


@pytest.mark.holds("transport.host")
@pytest.mark.parametrize(
    "host", ["", "a b", "a/b", "a@b", "a,b", "a..b", "-a", "a:b", "a:123456", "[::1", "é", "x" * 300]
)
def test_a_host_that_is_none_is_refused(member: Speaker, host: str) -> None:
    sent = request(member, "users/me")
    start, _, rest = sent.partition(b"Host: ")
    changed = start + b"Host: " + host.encode() + b"\r\n" + rest.partition(b"\r\n")[2]
    check_refused(exchange(member, changed), 400, "BAD_REQUEST")


@pytest.mark.holds("transport.host")
def test_an_address_that_names_another_host_is_refused(member: Speaker) -> None:
    sent = request(member, "users/me")
    host = sent.partition(b"Host: ")[2].partition(b"\r\n")[0]
    same = sent.replace(b"GET /", b"GET http://" + host + b"/", 1)
    assert exchange(member, same).status == 200
    other = sent.replace(b"GET /", b"GET http://other.example.com/", 1)
    check_refused(exchange(member, other), 400, "BAD_REQUEST")
    missing = sent.replace(b"Host: " + host + b"\r\n", b"", 1)
    check_refused(exchange(member, missing), 400, "BAD_REQUEST")


@pytest.mark.holds("conventions.method", "transport.unknown-method")
@pytest.mark.parametrize("method", ["FOO", "get", "G", "M-SEARCHES", "X" * 60])
def test_a_method_that_nobody_knows_is_405_with_those_of_the_address(member: Speaker, method: str) -> None:
    answer = exchange(member, request(member, "events", method=method))
    check_refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"].split(", ") == ["DELETE", "GET", "HEAD", "OPTIONS"] == answer.body["allowed_methods"]
    check_refused(exchange(member, request(member, "nothing", method=method)), 404, "NOT_FOUND")


@pytest.mark.holds("transport.unknown-method")
def test_a_method_that_nobody_knows_takes_its_body_with_it(member: Speaker) -> None:
    answer = exchange(member, request(member, "messages", method="FOO", body="content=Hello"))
    assert check_refused(answer, 405, "METHOD_NOT_ALLOWED")


BROKEN = {
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "words": b"hello there, is anybody in?\r\n\r\n",
    "no target": b"GET HTTP/1.1\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\n\r\n",
    "a space in the target": b"GET /api/v1/users me HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header without colon": b"GET /api/v1/users HTTP/1.1\r\nnonsense here\r\n\r\n",
    "a NUL in a header": b"GET /api/v1/users HTTP/1.1\r\nX: a\0b\r\n\r\n",
    "two lengths": b"POST /api/v1/messages HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a length and chunks": b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
    "a length in words": b"POST /api/v1/messages HTTP/1.1\r\nContent-Length: three\r\n\r\nabc",
    "a chunk without length": b"POST /api/v1/register HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a tunnel": b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
    "the next HTTP": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.holds("transport.malformed", "conventions.json", "errors.shape")
@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_not_http_is_400_in_json(member: Speaker, kind: str) -> None:
    answer = exchange(member, BROKEN[kind])
    check_refused(answer, 400, "BAD_REQUEST")
    assert answer.headers["connection"] == "close"
