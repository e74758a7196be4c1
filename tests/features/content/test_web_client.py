"""The web client is served as built: compressed, cached by name, and under a strict policy; a link of dev logs in once."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tertulia.content.webclient.files import BuiltFiles
from tertulia.content.webclient.serving import WebClient
from tertulia.people.sessions.actions import make_ticket
from tests.harness.browser import Browser, person
from tests.harness.server import Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import check_success

PAGE = b"<!doctype html><title>Built</title>"


@pytest.fixture
def built(folder: Path) -> Path:
    (folder / "assets").mkdir()
    (folder / "assets" / "main-abc123.js").write_bytes(b"export {}")
    (folder / "assets" / "main-abc123.js.br").write_bytes(b"as brotli")
    (folder / "assets" / "main-abc123.js.gz").write_bytes(b"as gzip")
    (folder / "sw.js").write_bytes(b"// worker")
    (folder / "index.html").write_bytes(PAGE)
    return folder


@pytest.fixture
async def client(built: Path) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(WebClient(BuiltFiles(built, watch=True)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


def is_strict(reply: httpx.Response) -> bool:
    policy = reply.headers["content-security-policy"]
    return (
        "default-src 'none'" in policy
        and "frame-ancestors 'none'" in policy
        and "unsafe" not in policy
        and "; img-src 'self' data: blob:; media-src 'self' blob:; " in policy
        and reply.headers["x-content-type-options"] == "nosniff"
    )


async def test_the_page_is_asked_for_again_and_stays_if_it_is_the_same(client: httpx.AsyncClient) -> None:
    reply = await client.get("/")
    assert (reply.status_code, reply.content) == (200, PAGE)
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache"
    assert is_strict(reply)
    again = await client.get("/", headers={"If-None-Match": reply.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = await client.head("/")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(PAGE)))
    assert (await client.post("/")).status_code == 405


async def test_files_with_a_digest_in_their_name_are_kept_for_ever(client: httpx.AsyncClient) -> None:
    reply = await client.get("/assets/main-abc123.js", headers={"Accept-Encoding": "identity"})
    assert reply.content == b"export {}"
    assert "immutable" in reply.headers["cache-control"]
    assert reply.headers["content-type"] == "text/javascript; charset=utf-8"
    assert (await client.get("/sw.js")).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("header", "encoding", "body"),
    [
        ("gzip, deflate, br, zstd", "br", b"as brotli"),
        ("gzip", "gzip", b"as gzip"),
        ("br;q=0, gzip;q=0.5", "gzip", b"as gzip"),
        ("zstd", None, b"export {}"),
    ],
)
async def test_a_browser_gets_the_best_encoding_it_knows(
    client: httpx.AsyncClient, header: str, encoding: str | None, body: bytes
) -> None:
    async with client.stream("GET", "/assets/main-abc123.js", headers={"Accept-Encoding": header}) as reply:
        assert reply.headers.get("content-encoding") == encoding
        assert reply.headers["vary"] == "Accept-Encoding"
        assert b"".join([chunk async for chunk in reply.aiter_raw()]) == body


async def test_a_new_build_shows_in_development_and_without_one_the_page_says_how_to_build(
    client: httpx.AsyncClient, built: Path
) -> None:
    first = (await client.get("/")).headers["etag"]
    (built / "index.html").write_bytes(b"<!doctype html><title>Built again</title>")
    assert (await client.get("/")).headers["etag"] != first
    (built / "index.html").unlink()
    reply = await client.get("/")
    assert "npm run build" in reply.text
    assert is_strict(reply)


def test_nothing_outside_the_build_is_served(built: Path) -> None:
    app = WebClient(BuiltFiles(built / "assets"))
    assert app.has("/")
    assert not app.has("/index.html")
    assert not WebClient(BuiltFiles(built)).has("/../assets/main-abc123.js")
    assert not WebClient(BuiltFiles(built)).has("/assets/main-abc123.js.br")


def test_the_server_has_a_page_at_its_front_door(server: Server) -> None:
    reply = httpx.get(server.url, trust_env=False)
    assert reply.status_code == 200
    assert is_strict(reply)


def test_a_link_logs_in_once_and_only_in_development(server: Server, stage: Stage, folder: Path) -> None:
    user = person(stage)
    ticket = stage.write(lambda tx: make_ticket(tx, user.user_id))
    address = f"/accounts/login/link/{ticket}"
    earnest = Web(server, folder, development="false")
    try:
        refused = httpx.get(earnest.wait().url + address, trust_env=False)
        assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")
    finally:
        earnest.stop()
    browser = Browser(server.url)
    try:
        reply = browser.http.get(server.url + address)
        assert (reply.status_code, reply.headers["location"]) == (302, "/")
        assert check_success(browser.request("GET", "sessions/current"))["user_id"] == user.user_id
        again = httpx.get(server.url + address, trust_env=False)
        assert (again.status_code, "set-cookie" in again.headers) == (404, False)
    finally:
        browser.http.close()
