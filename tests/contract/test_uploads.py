"""Files: upload, share, list, delete; what any server of this protocol does (protocol/messages.md#uploads)."""

import httpx
import pytest

from tests.harness.server import Server
from tests.harness.talk import Speaker, check_error, check_success, speaking


def _upload(speaker: Speaker, field: str = "file") -> str:
    body = check_success(speaker.http.post("user_uploads", files={field: ("words.txt", b"some words")}))
    assert body["filename"] == "words.txt"
    assert body["uri"] == body["url"]
    assert body["url"].endswith("/words.txt")
    return str(body["url"])


def _fetch(speaker: Speaker, url: str) -> httpx.Response:
    return speaker.http.get(httpx.URL(speaker.http.base_url).join(url))


@pytest.mark.holds("uploads.share")
def test_a_file_is_shared_by_a_message(server: Server) -> None:
    with speaking(server, server.members[0]) as owner, speaking(server, server.members[1]) as other:
        url = _upload(owner)
        assert _fetch(owner, url).content == b"some words"
        assert _fetch(other, url).status_code in (403, 404)
        message = owner.send([other.id], content=f"[words.txt]({url})")
        assert _fetch(other, url).content == b"some words"
        link = other.get(url.removeprefix("/"))["url"]
        with speaking(server, None) as nobody:
            assert _fetch(nobody, link).content == b"some words"
        listed = owner.get("attachments")
        [one] = [one for one in listed["attachments"] if url.endswith(one["path_id"])]
        assert one.keys() == {"id", "name", "path_id", "size", "create_time", "message_ids"}
        assert (one["name"], one["size"], one["message_ids"]) == ("words.txt", 10, [message])
        assert listed["upload_space_used"] >= 10
        check_error(other.request("DELETE", f"attachments/{one['id']}"))
        owner.delete(f"attachments/{one['id']}")
        assert _fetch(owner, url).status_code == 404


@pytest.mark.holds("uploads.one")
@pytest.mark.parametrize("files", [{}, {"a": ("a.txt", b"a"), "b": ("b.txt", b"b")}])
def test_exactly_one_file(server: Server, files: dict[str, tuple[str, bytes]]) -> None:
    with speaking(server, server.members[0]) as member:
        check_error(member.http.post("user_uploads", files=files))


@pytest.mark.holds("uploads.published")
def test_what_can_be_uploaded_is_published(server: Server) -> None:
    with speaking(server, server.members[0]) as member:
        state = member.post("register", fetch_event_types=["realm"], event_types=[])
        assert isinstance(state["max_file_upload_size_mib"], int)
        assert state["realm_upload_quota_mib"] is None or state["realm_upload_quota_mib"] > 0
        for form in state["server_thumbnail_formats"]:
            assert form.keys() == {"name", "max_width", "max_height", "format", "animated"}
