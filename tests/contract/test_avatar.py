"""Avatars that people upload (protocol/people.md#avatars)."""

import io
import re

import httpx
import pytest
from PIL import Image

from tests.contract.test_custom_emoji import png
from tests.harness.server import PLAIN_HTTP
from tests.harness.talk import Json, Speaker, check_error, check_success

UPLOADED = re.compile(r"/user_avatars/[0-9]+/[0-9a-f]{40}\.png\?v=([0-9]+)")


def upload(speaker: Speaker, *files: bytes, path: str = "users/me/avatar", **fields: str) -> httpx.Response:
    sent = [(f"f{number}", (f"{number}.png", data, "image/png")) for number, data in enumerate(files)]
    method = "PATCH" if path.startswith("bots/") else "POST"
    return speaker.http.request(method, path, files=sent, data=fields)


def own(speaker: Speaker) -> Json:
    return speaker.get(f"users/{speaker.id}")["user"]  # type: ignore[no-any-return]


def fetch(speaker: Speaker, url: str) -> httpx.Response:
    """A picture by its relative address, without saying who asks."""
    base = str(speaker.http.base_url).partition("/api")[0]
    host = {"host": speaker.http.headers["host"]} if "host" in speaker.http.headers else {}
    return httpx.get(base + url, headers=host, verify=PLAIN_HTTP)


def size_of(reply: httpx.Response) -> tuple[int, int]:
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    return Image.open(io.BytesIO(reply.content)).size


@pytest.mark.holds("avatars.upload")
def test_a_picture_becomes_an_avatar_in_two_sizes(newcomer: Speaker) -> None:
    before = own(newcomer)
    answer = check_success(upload(newcomer, png(side=700)))
    assert answer.keys() == {"result", "msg", "avatar_url"}
    found = UPLOADED.fullmatch(answer["avatar_url"])
    assert found
    assert int(found[1]) == before["avatar_version"] + 1
    after = own(newcomer)
    assert (after["avatar_url"], after["avatar_version"]) == (answer["avatar_url"], before["avatar_version"] + 1)
    assert size_of(fetch(newcomer, answer["avatar_url"])) == (100, 100)
    assert size_of(fetch(newcomer, answer["avatar_url"].replace(".png", "-medium.png"))) == (500, 500)


@pytest.mark.holds("avatars.told")
def test_everybody_is_told(newcomer: Speaker, other: Speaker) -> None:
    with other.register(event_types=["realm_user"]) as queue:
        url = check_success(upload(newcomer, png()))["avatar_url"]
        [event] = queue.poll()
        assert (event["type"], event["op"]) == ("realm_user", "update")
        assert event["person"] == {
            "user_id": newcomer.id,
            "avatar_source": "U",
            "avatar_url": url,
            "avatar_url_medium": url.replace(".png", "-medium.png"),
            "avatar_version": 2,
        }
        drawn = newcomer.delete("users/me/avatar")["avatar_url"]
        [event] = queue.poll()
        assert event["person"] == {
            "user_id": newcomer.id,
            "avatar_source": "J",
            "avatar_url": drawn,
            "avatar_url_medium": f"/avatar/{newcomer.id}/medium?v=3",
            "avatar_version": 3,
        }


@pytest.mark.holds("avatars.upload")
def test_it_is_shown_wherever_the_user_is(newcomer: Speaker, member: Speaker) -> None:
    url = check_success(upload(newcomer, png()))["avatar_url"]
    assert newcomer.get("users/me")["avatar_url"] == url
    everybody = {one["user_id"]: one["avatar_url"] for one in member.get("users")["members"]}
    assert everybody[newcomer.id] == url
    with newcomer.register(fetch_event_types=["realm_user"], event_types=["message"]) as queue:
        state = queue.state
        assert (state["avatar_source"], state["avatar_url"]) == ("U", url)
        assert state["avatar_url_medium"] == url.replace(".png", "-medium.png")
        assert {one["user_id"]: one["avatar_url"] for one in state["realm_users"]}[newcomer.id] == url
        sent = newcomer.send([member.id])
        [event] = queue.poll()
        assert event["message"]["avatar_url"] == url
    assert member.message(sent)["avatar_url"] == url


@pytest.mark.holds("avatars.replaced", "user.avatar-version")
def test_an_old_picture_is_gone_at_once(newcomer: Speaker) -> None:
    first = check_success(upload(newcomer, png(10)))["avatar_url"]
    second = check_success(upload(newcomer, png(20)))["avatar_url"]
    assert int(second.rpartition("?v=")[2]) > int(first.rpartition("?v=")[2])
    assert fetch(newcomer, first).status_code == 404
    assert size_of(fetch(newcomer, second)) == (100, 100)
    drawn = newcomer.delete("users/me/avatar")["avatar_url"]
    assert fetch(newcomer, second).status_code == 404
    assert fetch(newcomer, second.replace(".png", "-medium.png")).status_code == 404
    assert fetch(newcomer, drawn).status_code == 200


@pytest.mark.holds("avatars.replaced")
def test_deleting_what_is_not_there_changes_nothing(newcomer: Speaker) -> None:
    before = own(newcomer)["avatar_url"]
    assert newcomer.delete("users/me/avatar")["avatar_url"] == before
    assert own(newcomer)["avatar_url"] == before


@pytest.mark.holds("avatars.by-id")
def test_the_address_by_number_leads_to_it_for_those_who_log_in(newcomer: Speaker, member: Speaker) -> None:
    url = check_success(upload(newcomer, png()))["avatar_url"]
    base = str(member.http.base_url).partition("/api")[0]
    for path, target in (("", url), ("/medium", url.replace(".png", "-medium.png"))):
        reply = member.http.get(f"{base}/avatar/{newcomer.id}{path}", follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (302, target)
        # Nobody else is told anything: this is what is drawn for any number.
        drawn = fetch(newcomer, f"/avatar/{newcomer.id}{path}")
        assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert member.http.get(f"{base}/avatar/999999999").headers["content-type"] == "image/svg+xml"


@pytest.mark.holds("avatars.refused")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a picture",
        b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        png()[:60],
        b"GIF89a" + b"\xff" * 50,
        b"%PDF-1.7",
    ],
    ids=["empty", "text", "svg", "half", "crooked", "pdf"],
)
def test_what_is_no_picture_is_refused(newcomer: Speaker, data: bytes) -> None:
    before = own(newcomer)["avatar_url"]
    check_error(upload(newcomer, data), "BAD_IMAGE")
    assert own(newcomer)["avatar_url"] == before


@pytest.mark.holds("avatars.refused")
def test_exactly_one_file_is_needed_and_not_a_large_one(newcomer: Speaker) -> None:
    check_error(newcomer.request("POST", "users/me/avatar"))
    check_error(upload(newcomer, png(), png()))
    check_error(upload(newcomer, png() + b"x" * (5 * 1024 * 1024)))


@pytest.mark.holds("avatars.bots")
def test_a_bot_has_one_from_the_beginning_or_later(newcomer: Speaker) -> None:
    fields = {"full_name": f"Bot of {newcomer.id}", "short_name": f"b{newcomer.id}"}
    made = check_success(upload(newcomer, png(), path="bots", **fields))
    assert UPLOADED.fullmatch(made["avatar_url"])
    shown = {bot["user_id"]: bot["avatar_url"] for bot in newcomer.get("bots")["bots"]}
    assert shown[made["user_id"]] == made["avatar_url"]
    changed = check_success(upload(newcomer, png(9), path=f"bots/{made['user_id']}"))
    assert UPLOADED.fullmatch(changed["avatar_url"])
    assert changed["avatar_url"] != made["avatar_url"]
    assert newcomer.get(f"users/{made['user_id']}")["user"]["avatar_url"] == changed["avatar_url"]
    assert fetch(newcomer, made["avatar_url"]).status_code == 404
    check_error(upload(newcomer, b"no picture", path=f"bots/{made['user_id']}"), "BAD_IMAGE")
    check_error(upload(newcomer, png(), png(), path=f"bots/{made['user_id']}"))


@pytest.mark.holds("avatars.bots")
def test_nobody_changes_anothers_bot(newcomer: Speaker, member: Speaker) -> None:
    fields = {"full_name": f"Bot of {newcomer.id}", "short_name": f"c{newcomer.id}"}
    made = newcomer.post("bots", **fields)
    check_error(upload(member, png(), path=f"bots/{made['user_id']}"))
    assert newcomer.get(f"users/{made['user_id']}")["user"]["avatar_url"] == made["avatar_url"]
