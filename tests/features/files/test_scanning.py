"""What comes from outside passes a malware scanner, where one is set; with the real clamd."""

import base64
import secrets
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tertulia.engines import free_port
from tests.harness.clamd import EICAR, STREAM_LIMIT, clamd
from tests.harness.command import tertulia
from tests.harness.files import fetch, post_file, upload
from tests.harness.hostile import png
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Web
from tests.harness.talk import Json, Speaker, check_error

MIB = 1024 * 1024
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture(scope="module")
def scanner(shared_folder: Path) -> Iterator[str]:
    with clamd(shared_folder) as address:
        yield address


@pytest.fixture(scope="module")
def scanned(server: Server, scanner: str, shared_folder: Path) -> Iterator[Web]:
    yield from _web(server, shared_folder, malware_scanner=scanner)


def _web(server: Server, folder: Path, **settings: object) -> Iterator[Web]:
    web = Web(server, folder, **settings)
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def member(realm: Realm, scanned: Web) -> Speaker:
    return realm.as_user(realm.member.user, url=scanned.url)


def check_found(reply: httpx.Response) -> None:
    check_error(reply, "MALWARE_FOUND")
    assert "Own.Eicar" in reply.json()["msg"]


def files_of(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.get("attachments")["attachments"]
    return found


def test_a_clean_file_is_kept_and_an_infected_one_is_not(member: Speaker) -> None:
    content = secrets.token_bytes(3 * MIB)
    assert fetch(member, upload(member, "clean.bin", content)).content == content
    assert fetch(member, upload(member, "empty.txt", b"")).content == b""
    before = files_of(member)
    for infected in (EICAR, secrets.token_bytes(3 * MIB) + EICAR):
        check_found(post_file(member, "invoice.exe", infected))
    assert files_of(member) == before


def _resume(speaker: Speaker, where: str, offset: int, body: bytes) -> httpx.Response:
    kind = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
    address = httpx.URL(speaker.http.base_url).join(where)
    return speaker.http.patch(address, content=body, headers=TUS | kind)


def test_an_infected_file_that_comes_in_parts_is_refused_and_its_parts_are_gone(member: Speaker) -> None:
    infected = secrets.token_bytes(5 * MIB) + EICAR
    half = len(infected) - 30  # the test text itself comes in two requests
    headers = TUS | {
        "Upload-Length": str(len(infected)),
        "Upload-Metadata": f"filename {base64.b64encode(b'a').decode()}",
    }
    begun = member.http.post(httpx.URL(member.http.base_url).join("/api/v1/tus/"), headers=headers)
    where = begun.headers["location"]
    assert _resume(member, where, 0, infected[:half]).status_code == 204
    refused = _resume(member, where, half, infected[half:])
    assert (refused.status_code, refused.json()["code"]) == (400, "MALWARE_FOUND")
    assert "Own.Eicar" in refused.json()["message"], "which clients of tus show"
    gone = member.http.head(httpx.URL(member.http.base_url).join(where), headers=TUS)
    assert gone.status_code == 404
    assert files_of(member) == []


@pytest.mark.parametrize(
    ("who", "path"), [("member", "users/me/avatar"), ("member", "realm/emoji/eicar"), ("owner", "realm/icon")]
)
def test_infected_pictures_are_refused(realm: Realm, scanned: Web, who: str, path: str) -> None:
    speaker = realm.as_user(getattr(realm, who).user, url=scanned.url)
    picture = png(8, 8, data=b"\0" * 200) + EICAR
    check_found(speaker.http.post(path, files={"file": ("face.png", picture)}))


def test_a_file_that_the_scanner_does_not_take_is_refused(member: Speaker) -> None:
    refused = post_file(member, "large.bin", b"x" * (STREAM_LIMIT + MIB))
    check_error(refused, "SERVER_NOT_READY", 503)
    assert files_of(member) == []


@pytest.fixture(scope="module")
def silent() -> str:
    """A port at which nobody listens."""
    return f"127.0.0.1:{free_port()}"


def test_while_the_scanner_is_away_files_are_refused(server: Server, realm: Realm, silent: str, tmp_path: Path) -> None:
    for web in _web(server, tmp_path, malware_scanner=silent):
        member = realm.as_user(realm.member.user, url=web.url)
        check_error(post_file(member, "clean.txt", b"hello"), "SERVER_NOT_READY", 503)
        assert files_of(member) == []


def test_while_the_scanner_is_away_files_are_accepted_where_the_operator_says_so(
    server: Server, realm: Realm, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        # Somebody takes the connection and hangs up in the middle of the file.
        listening.settimeout(30)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        for web in _web(server, tmp_path, malware_scanner=address, malware_scanner_away="accept"):
            member = realm.as_user(realm.member.user, url=web.url)
            content = secrets.token_bytes(2 * MIB)
            thread = threading.Thread(target=_hang_up, args=[listening])
            thread.start()
            url = upload(member, "clean.bin", content)
            thread.join()
            assert fetch(member, url).content == content


def _hang_up(listening: socket.socket) -> None:
    taken, _ = listening.accept()
    taken.recv(100_000)
    taken.close()


def test_the_doctor_asks_the_scanner(server: Server, scanner: str, silent: str) -> None:
    assert isinstance(server, OwnServer)

    def doctor(address: str) -> str:
        return tertulia("doctor", env=server.environment(malware_scanner=address)).stdout

    assert f"ok      malware scanner: answers at {scanner}" in doctor(scanner)
    assert "WRONG   malware scanner" in doctor(silent)
