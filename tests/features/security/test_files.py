"""Past advisories, classes RL and UP: addresses of files, and of people's mail domains (docs/reference/advisories.md)."""

from pathlib import Path

import httpx
import pytest

from tests.harness.files import fetch, post_file, upload
from tests.harness.hostile import image
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.server import OWNER
from tests.harness.stage import Web
from tests.harness.talk import check_error, check_success, unique

WAYS_OUT = (
    "../" * 8,
    "..%2f" * 8,
    "%2e%2e/" * 8,
    "%2e%2e%2f" * 8,
    "..%5c" * 8,
    "..%252f" * 8,
    "....//" * 8,
    "/",
    "%00/",
)
PLACES = (
    *("/user_uploads/", "/user_uploads/thumbnail/", "/user_uploads/temporary/1/", "/user_avatars/", "/avatar/"),
    *("/assets/", "/static/", "/api/v1/user_uploads/", "/api/v1/tus/", "/"),
)


def test_rl_05_a_domain_is_compared_by_its_parts(realm: Realm) -> None:
    realm.owner.post("realm/domains", domain="example.com", allow_subdomains=False)
    realm.owner.post("realm/domains", domain="example.org", allow_subdomains=True)
    check_success(realm.owner.request("PATCH", "realm", emails_restricted_to_domains=True))

    def is_taken(domain: str) -> bool:
        email = f"{unique('a').replace(' ', '')}@{domain}"
        fields = {"email": email, "password": PASSWORD, "full_name": "Ada"}
        reply = realm.owner.request("POST", "users", **fields)
        assert reply.status_code in (200, 400)
        return reply.status_code == 200

    for good in ("example.com", "EXAMPLE.com", "example.org", "a.example.org", "b.a.Example.org"):
        assert is_taken(good), good
    for wrong in (
        *(
            "attacker-example.com",
            "a.example.com",
            "example.com.evil.example",
            "xexample.org",
            "example.org.evil.example",
        ),
        *("example.co", "example.com@evil.example", "evil.example?example.com", "exаmple.com", "example。com"),
        *(".example.org", "a..example.org", "example.org."),
    ):
        assert not is_taken(wrong), wrong


@pytest.mark.parametrize("place", PLACES)
def test_up_04_no_address_leads_out_of_its_folder(realm: Realm, place: str) -> None:
    root = httpx.URL(realm.stage.server.url)
    for way in WAYS_OUT:
        for target in ("etc/passwd", "demo.json", "state.json", "pyproject.toml"):
            url = root.copy_with(raw_path=(place + way + target).encode())
            reply = realm.member.http.get(url, follow_redirects=False)
            assert b"root:" not in reply.content
            assert b"api_key" not in reply.content
            assert reply.status_code in (301, 302, 303, 400, 401, 404, 405) or place == "/", (url, reply.status_code)
            if reply.status_code == 200:
                assert b"<!doctype html" in reply.content[:100].lower()


def test_up_15_odd_names_are_kept_as_names(realm: Realm) -> None:
    names = (
        "x" * 300 + ".txt",
        "é" * 300 + ".txt",
        "a\u202egpj.exe",
        "\u200f\u200e\u2066",
        'a"b.txt',
        "a;b=c.txt",
        "\u0085",
    )
    for name in names:
        reply = post_file(realm.member, name, b"content")
        url = check_success(reply)["url"]
        got = fetch(realm.member, url)
        assert (got.status_code, got.content) == (200, b"content")
        shown = got.headers["content-disposition"]
        assert shown.isascii()
        assert shown.isprintable()
        assert shown.count('"') == 2
    for odd in (b"a%00b.txt", b"a\0b.txt", b"\xff.txt"):
        body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="' + odd + b'"\r\n\r\nx\r\n--x--\r\n'
        kind = {"content-type": "multipart/form-data; boundary=x"}
        assert realm.member.http.post("user_uploads", content=body, headers=kind).status_code in (200, 400)


def test_up_02_who_names_a_file_gets_it_by_the_messages_that_hold_it_only(realm: Realm) -> None:
    url = upload(realm.owner)
    realm.owner.send([realm.administrator.id], content=f"[file]({url})")
    assert fetch(realm.administrator, url).status_code == 200
    # Linking somebody else's file gives no right to it, neither to the sender nor to those who read the message.
    realm.member.send([realm.guest.id], content=f"[file]({url})")
    for outside in (realm.member, realm.guest, realm.moderator):
        assert fetch(outside, url).status_code == 404
        check_error(outside.request("GET", url.removeprefix("/")), "NOT_FOUND", 404)


def test_up_06_a_picture_that_somebody_brings_is_not_decoded_in_the_web_process(realm: Realm, passing_web: Web) -> None:
    if not Path("/proc/self/maps").exists():
        pytest.skip("what a process has loaded can be seen on Linux only")
    owner = realm.speaker(OWNER, url=passing_web.url)
    for path in ("users/me/avatar", f"realm/emoji/{unique('emoji').replace(' ', '_')}", "realm/icon", "realm/logo"):
        fields = {"night": "false"} if path == "realm/logo" else {}
        check_success(owner.http.post(path, data=fields, files={"file": ("x.png", image(300, 200))}))
    loaded = Path(f"/proc/{passing_web.pid}/maps").read_text()
    assert "python" in loaded
    assert "_imaging" not in loaded
