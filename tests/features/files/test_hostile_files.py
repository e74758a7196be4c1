"""Files that mean harm are kept and handed out without doing any; what reads pictures survives all of them."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from tertulia.files.uploads.kinds import SHOWN, kind_of
from tests.harness.channels import make
from tests.harness.files import fetch, post_file
from tests.harness.hostile import hostile_files
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.talk import check_error, check_success, eventually


@pytest.mark.slow
def test_hostile_files_are_answered_safely(realm: Realm) -> None:
    server = realm.stage.server
    pids = server.state.pids if isinstance(server, OwnServer) else {}
    channel = make(realm, realm.member, realm.owner)
    files = hostile_files()
    assert len(files) >= 50
    urls = {}
    for name, content in files:
        urls[name] = url = check_success(post_file(realm.member, name, content))["url"]
        _check_download(realm, url, content)
    _settle(realm)
    for name, url in urls.items():
        message = realm.member.send(channel.stream_id, "topic", f"[{name}]({url}) [again]({url})")
        html = realm.owner.message(message)["content"]
        _check_tags(html)
        for thumbnail in re.findall(r'src="(/user_uploads/thumbnail/[^"]*)"', html):
            small = fetch(realm.owner, thumbnail)
            assert (small.status_code, small.headers["content-type"], small.content[8:12]) == (
                200,
                "image/webp",
                b"WEBP",
            )
    if isinstance(server, OwnServer):
        assert server.state.pids == pids


def _check_tags(html: str) -> None:
    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag in ("p", "a", "div", "img", "video", "em", "strong", "br", "span"), html
            assert not [name for name, _ in attrs if name.startswith("on")], html
            assert not [value for _, value in attrs if (value or "").startswith("javascript:")], html

    Tags().feed(html)


def _check_download(realm: Realm, url: str, content: bytes) -> None:
    name = unquote(url.rpartition("/")[2])
    assert re.fullmatch(r"/user_uploads/\d+/[0-9a-f]{2}/[A-Za-z0-9]{24}/[^/]+", url), url
    assert ".." not in name
    assert not set(name) & set("/\\\r\n\0\"'<>%${}()[]\u202e\u2066")
    reply = fetch(realm.member, url)
    assert (reply.status_code, reply.content) == (200, content)
    kind, how = reply.headers["content-type"], reply.headers["content-disposition"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "set-cookie" not in reply.headers
    if how.startswith("inline"):
        assert kind in SHOWN
        assert kind == kind_of(content)
    else:
        assert how.startswith("attachment;")
        assert kind == "application/octet-stream"


def _settle(realm: Realm) -> None:
    """Every picture has been looked at."""
    sql = "select 1 from attachment where owner_id = %s and thumbnail = 1"
    eventually(lambda: not realm.stage.sql(sql, realm.member.id), 90)
    found = realm.stage.sql("select name, thumbnail from attachment where owner_id = %s", realm.member.id)
    made = {name for name, state in found if state == 2}
    assert {"both.png", "frames.gif"} <= made
    assert not made & {"wide.png", "bomb.png", "claims.png", "claims.jpg", "claims.gif", "nothing.png", "cut.webp"}


@pytest.mark.parametrize("name", [b"a\0.png", b"\xff\xfe.png"])
def test_names_that_are_no_text_are_refused(realm: Realm, name: bytes) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="' + name + b'"\r\n\r\nx\r\n--x--\r\n'
    kind = {"content-type": "multipart/form-data; boundary=x"}
    check_error(realm.member.http.post("user_uploads", content=body, headers=kind))
