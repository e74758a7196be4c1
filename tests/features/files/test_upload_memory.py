"""Large files pass through a web process without staying in its memory: uploaded whole, in parts, and downloaded."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.features.files.test_resumable import begin
from tests.harness.realm import Realm
from tests.harness.stage import Web
from tests.harness.talk import Speaker

MIB = 1024 * 1024
SIZE = 100 * MIB
ALLOWED = 72 * MIB
"""What may be in memory at a time: two parts of 5 MiB on their way to the store, what asyncio and the kernel buffer, and the
fragmentation of all that (13 to 50 MiB were seen, the most after a file in parts). A file that is held even once is more."""
_CHUNK = bytes(range(256)) * 256
_HEAD = b'--x\r\nContent-Disposition: form-data; name="f"; filename="large.bin"\r\n\r\n'
_TAIL = b"\r\n--x--\r\n"


def _file() -> Iterator[bytes]:
    for _ in range(SIZE // len(_CHUNK)):
        yield _CHUNK


def _form() -> Iterator[bytes]:
    yield _HEAD
    yield from _file()
    yield _TAIL


def _peak(web: Web) -> int:
    """The most memory that the process ever had, in bytes."""
    status = Path(f"/proc/{web.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


@pytest.mark.slow
def test_a_hundred_megabytes_in_constant_memory(realm: Realm, passing_web: Web) -> None:
    member = realm.as_user(realm.member.user, url=passing_web.url)
    member.get("attachments")  # whatever the first request brings along
    before = _peak(passing_web)
    length = {"content-type": "multipart/form-data; boundary=x", "content-length": str(SIZE + len(_HEAD) + len(_TAIL))}
    url = member.http.post("user_uploads", content=_form(), headers=length).raise_for_status().json()["url"]
    uploaded = _peak(passing_web)
    _check_download(member, url)
    downloaded = _peak(passing_web)
    where = httpx.URL(member.http.base_url).join(begin(member, SIZE))
    kind = {"content-type": "application/offset+octet-stream", "upload-offset": "0", "content-length": str(SIZE)}
    member.http.patch(where, content=_file(), headers=kind).raise_for_status()
    resumed = _peak(passing_web)
    figures = [round((peak - before) / MIB, 1) for peak in (uploaded, downloaded, resumed)]
    print(
        f"memory beyond {round(before / MIB, 1)} MiB: upload {figures[0]}, download {figures[1]}, tus {figures[2]} MiB"
    )
    assert resumed - before < ALLOWED, figures


def _check_download(member: Speaker, url: str) -> None:
    digest, size = hashlib.sha256(), 0
    with member.http.stream("GET", httpx.URL(member.http.base_url).join(url)) as reply:
        for chunk in reply.iter_bytes():
            digest.update(chunk)
            size += len(chunk)
    expected = hashlib.sha256()
    for chunk in _file():
        expected.update(chunk)
    assert (size, digest.hexdigest()) == (SIZE, expected.hexdigest())
