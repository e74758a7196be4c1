"""Uploading and downloading in tests."""

import httpx

from tests.harness.talk import Speaker, check_success


def upload(speaker: Speaker, name: str = "notes.txt", content: bytes = b"content", field: str = "file") -> str:
    """Upload a file; its address."""
    body = check_success(post_file(speaker, name, content, field))
    assert body["url"] == body["uri"]
    url = body["url"]
    assert isinstance(url, str)
    return url


def post_file(speaker: Speaker, name: str, content: bytes, field: str = "file") -> httpx.Response:
    return speaker.http.post("user_uploads", files={field: (name, content)})


def fetch(speaker: Speaker, url: str, method: str = "GET", **headers: str) -> httpx.Response:
    """What is at an address outside the API."""
    asked = {name.replace("_", "-"): value for name, value in headers.items()}
    return speaker.http.request(method, httpx.URL(speaker.http.base_url).join(url), headers=asked)


def may_fetch(speaker: Speaker, url: str) -> bool:
    """Whether somebody may have a file; if not, it must look as if there were none."""
    reply = fetch(speaker, url)
    if reply.status_code == 200:
        return True
    stem = url.rpartition("/")[0]
    nothing = fetch(speaker, stem[:-4] + "none/x.txt")
    assert (reply.status_code, reply.content) == (nothing.status_code, nothing.content)
    return False
