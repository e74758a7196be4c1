"""Each request leaves one line in the log: who, what, the answer, how long it took, and how much of that the database."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.harness.channels import make
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Web
from tests.harness.talk import Speaker, eventually, unique


@pytest.fixture
def own(server: Server) -> OwnServer:
    if not isinstance(server, OwnServer):
        pytest.skip("logs can be read only where the server runs")
    return server


@pytest.fixture(scope="module")
def for_people(server: Server, shared_folder: Path) -> Iterator[Web]:
    web = Web(server, shared_folder, log_format="console")
    try:
        yield web.wait()
    finally:
        web.stop()


def line_of(own: OwnServer, reply: httpx.Response) -> dict[str, Any]:
    """The one line that has the number of this request."""
    return told_of(own, reply.headers["x-request-id"])


def told_of(own: OwnServer, request_id: str) -> dict[str, Any]:
    eventually(lambda: _lines(own, request_id))
    [line] = _lines(own, request_id)
    return line


def _lines(own: OwnServer, request_id: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in own.log("web").splitlines() if request_id in line]
    return [line for line in lines if line["event"] == "request"]


def test_a_request_leaves_one_line_with_who_what_how_long_and_how_many_statements(realm: Realm, own: OwnServer) -> None:
    reply = realm.member.request("GET", "users/me")
    line = line_of(own, reply)
    assert (line["method"], line["endpoint"], line["status"]) == ("GET", "get_own_user", 200)
    assert (line["user_id"], line["realm_id"]) == (realm.member.id, realm.id)
    assert 0 < line["statement_seconds"] < line["seconds"] < 60
    assert line["statements"] >= 1
    assert {"timestamp", "level", "process", "request_id"} <= line.keys()


def test_what_is_written_for_many_at_once_is_counted_for_each_of_them(realm: Realm, own: OwnServer) -> None:
    channel = make(realm, realm.member, kind="shared")
    fields = {"type": "channel", "to": channel.stream_id, "topic": "tea", "content": "Hello"}
    realm.member.request("POST", "messages", **fields)
    line = line_of(own, realm.member.request("POST", "messages", **fields))
    # Who calls; begin, two statements at least, and commit.
    assert 5 <= line["statements"] <= 12
    assert line["statement_seconds"] < line["seconds"]


def test_a_message_to_everybody_takes_no_more_statements_than_another(realm: Realm, own: OwnServer) -> None:
    channel = make(realm, realm.member, kind="shared")
    fields = {"type": "channel", "to": channel.stream_id, "topic": "tea"}
    counts = {}
    for content in ("Hello", "Hello", "@**all** Hello"):
        counts[content] = line_of(own, realm.member.request("POST", "messages", content=content, **fields))[
            "statements"
        ]
    assert counts["@**all** Hello"] == counts["Hello"]


def test_a_transaction_counts_its_begin_and_its_commit(realm: Realm, own: OwnServer) -> None:
    read = line_of(own, realm.member.request("GET", "drafts"))
    draft = [{"type": "", "to": [], "topic": "", "content": "A draft"}]
    written = line_of(own, realm.member.request("POST", "drafts", drafts=draft))
    assert written["statements"] >= read["statements"] + 2


def test_whoever_is_refused_or_unknown_or_finds_nothing_leaves_a_line_as_well(realm: Realm, own: OwnServer) -> None:
    nobody = realm.stage.nobody(host=realm.host)
    refused = line_of(own, nobody.request("GET", "users/me"))
    assert (refused["endpoint"], refused["status"]) == ("get_own_user", 401)
    assert "user_id" not in refused
    lost = line_of(own, realm.member.request("GET", "nothing/here"))
    assert (lost["endpoint"], lost["status"]) == ("none", 404)
    odd = line_of(own, realm.member.http.request("BREW", "users/me"))
    assert (odd["method"], odd["status"]) == ("other", 405)


def test_the_web_client_and_pictures_leave_lines_too(own: OwnServer) -> None:
    name = unique("request").replace(" ", "")
    httpx.get(f"{own.url}/nothing.png", headers={"X-Request-Id": name}, trust_env=False)
    line = told_of(own, name)
    assert (line["endpoint"], line["status"]) == ("site", 404)


def test_for_people_the_line_is_one_that_they_can_read(realm: Realm, server: Server, for_people: Web) -> None:
    speaker = Speaker(server, realm.member.user, url=for_people.url, host=realm.host)
    with speaker.http:
        number = speaker.request("GET", "users/me").headers["x-request-id"]

    def found() -> str:
        return next((line for line in for_people.log().splitlines() if number in line), "")

    told = rf"GET get_own_user 200 [\d.]+ ms, \d+ statements [\d.]+ ms user_id={realm.member.id} realm_id={realm.id}"
    eventually(found)
    assert re.search(told, found())


def test_no_parameter_of_any_endpoint_reaches_a_log(realm: Realm, own: OwnServer) -> None:
    """Whatever it is: a key, a password, a token, a text or an address of somebody's."""
    marker = unique("secret").replace(" ", "")
    address = f"{marker}@example.com"
    with own.client(realm.member.user) as client:
        client.headers["host"] = realm.host
        for endpoint in endpoints_of(FEATURES):
            fields = {name: address if "mail" in name else marker for param in endpoint.params for name in param.names}
            for part in (marker, "1"):
                path = own.url + re.sub(r"\{[a-z_]+\}", part, endpoint.path)
                client.request(endpoint.method, path, params=fields)
                client.request(endpoint.method, path, data=fields)
        for name in ("Authorization", "Cookie", "User-Agent", "Referer"):
            client.get("users/me", headers={name: f"session={marker}"}, auth=(address, marker))
    line_of(own, realm.member.request("GET", "users/me"))
    for log in own.folder.rglob("*.log"):
        told = [line[:400] for line in log.read_text(errors="replace").splitlines() if marker in line]
        assert told == [], log.name
