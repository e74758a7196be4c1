"""What a browser may do with an answer: nothing, unless the answer is a page of ours (OWASP ASVS 3.4.3, 3.4.6)."""

import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.features.tables.endpoint_table import TABLE
from tests.harness.files import fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import Server

SITE = (
    "/",
    "/sw.js",
    "/manifest.webmanifest",
    "/apple-touch-icon.png",
    "/app_icons/default/192.png",
    "/share",
    "/favicon.ico",
    "/avatar/1",
    "/nothing.png",
    "/user_avatars/1/emoji/images/0123456789abcdef.png",
    "/external_content/1/" + "0" * 64,
    "/api/docs",
    "/api/docs/page.js",
    "/api/v1/openapi.json",
    "/accounts/password/reset/nothing",
    "/accounts/login/link/nothing",
    "/join/nothing?plain=true",
    "/user_uploads/1/nothing",
)


def test_every_answer_of_the_api_loads_nothing_and_stands_in_no_frame(realm: Realm) -> None:
    http, root = realm.member.http, realm.stage.server.url
    for key in TABLE:
        method, _, path = key.partition(" ")
        outside, _, path = path.rpartition(" ")
        reply = http.request(method, f"{root}{'' if outside else '/api/v1'}{path}", params={"dont_block": "true"})
        assert _is_strict(reply), key


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", SITE)
def test_every_answer_beside_the_api_has_a_policy_too(server: Server, method: str, path: str) -> None:
    reply = httpx.request(method, server.url + path, trust_env=False)
    assert _is_strict(reply), reply.status_code


def test_a_page_of_the_client_and_its_workers_load_from_here_only(server: Server) -> None:
    for path in ("/", "/sw.js"):
        policy = _policy(httpx.get(server.url + path, trust_env=False))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["connect-src"] == "'self'"


def test_an_uploaded_file_does_nothing_and_stands_in_no_frame(realm: Realm) -> None:
    url = upload(realm.member, "page.html", b"<base href=//elsewhere.example>")
    first = fetch(realm.member, url)
    same = fetch(realm.member, url, if_none_match=first.headers["etag"])
    assert (first.status_code, same.status_code) == (200, 304)
    for reply in (first, same, fetch(realm.member, url, "HEAD")):
        assert _is_strict(reply)
        assert "sandbox" in _policy(reply)


def test_what_is_no_request_at_all_is_answered_so_too(server: Server) -> None:
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
        connection.sendall(b"this is no HTTP\r\n\r\n")
        answer = connection.recv(65536).decode().lower()
    assert answer.startswith("http/1.1 400")
    assert "frame-ancestors 'none'" in answer
    assert "x-frame-options: deny" in answer


def _is_strict(reply: httpx.Response) -> bool:
    policy = _policy(reply)
    nowhere = ("default-src", "base-uri", "frame-ancestors")
    return (
        all(policy.get(each) == "'none'" for each in nowhere)
        and policy.get("form-action") in ("'none'", "'self'")
        and reply.headers.get_list("x-frame-options") == ["DENY"]
        and reply.headers.get_list("x-content-type-options") == ["nosniff"]
    )


def _policy(reply: httpx.Response) -> dict[str, str]:
    [policy] = reply.headers.get_list("content-security-policy")
    parts = (part.strip().partition(" ") for part in policy.split(";"))
    return {name: value for name, _, value in parts}
