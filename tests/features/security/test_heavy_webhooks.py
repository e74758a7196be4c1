"""What another service posts does not stop the others: only what can be told is worked on, and the rest costs next to nothing."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tertulia.integrations.incoming.routes import MAX_PAYLOAD
from tests.harness.realm import Realm
from tests.harness.stage import Web
from tests.harness.talk import check_error, check_success, unique

FORM = {"content-type": "application/x-www-form-urlencoded"}
PUSH = {"x-github-event": "push"}
MOST_SECONDS = 0.3
"""Of processor time. Each of these took more than a second before there was a bound, or will for a larger payload."""


def fill(piece: str, room: int = MAX_PAYLOAD - 500) -> str:
    return piece * (room // len(piece))


def some(piece: str, count: int) -> str:
    return ",".join([piece] * count)


HEAVY: dict[str, tuple[str, str, dict[str, str]]] = {
    "tags": ("slack_incoming", json.dumps({"text": fill("<!>")}), {}),
    "links": ("slack_incoming", json.dumps({"text": fill("<a> ")}), {}),
    "mentions": ("slack_incoming", json.dumps({"text": fill("@*")}), {}),
    "fields": (
        "slack_incoming",
        json.dumps({"blocks": [{"type": "section", "fields": [fill("<!>", 900)] * 20}] * 50}),
        {},
    ),
    "attachments": ("slack_incoming", json.dumps({"attachments": [{"text": fill("<!>", 100_000)}] * 10}), {}),
    "alerts": ("alertmanager", '{"alerts":[' + some("{}", 49_000) + "]}", {}),
    "values": ("grafana", '{"ruleName":"a","state":"ok","evalMatches":[' + some("{}", 49_000) + "]}", {}),
    "commits": (
        "github",
        '{"ref":"refs/heads/a","commits":[' + some('{"id":"a","message":""}', 40_000) + "]}",
        PUSH,
    ),
    "nested": ("json", "[" * 30 + some("0", MAX_PAYLOAD // 2 - 100) + "]" * 30, {}),
    "escapes": ("json", "payload=" + fill("%"), FORM),
}


@pytest.fixture
def hook_key(realm: Realm) -> str:
    made = realm.member.post("bots", full_name=unique("Hook"), short_name=unique("hook").replace(" ", "-"), bot_type=2)
    return str(made["api_key"])


@pytest.fixture
def service(realm: Realm, hook_key: str, second: Web) -> Iterator[httpx.Client]:
    client = realm.stage.server.client(url=second.url)
    client.headers.update({"host": realm.host, "content-type": "application/json"})
    client.params = httpx.QueryParams(api_key=hook_key)
    with client:
        check_success(client.post("external/json", content=b"1"))
        yield client


def processor_seconds(pid: int) -> float:
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("case", HEAVY)
def test_the_largest_payload_costs_little(service: httpx.Client, second: Web, case: str) -> None:
    name, body, headers = HEAVY[case]
    assert len(body) <= MAX_PAYLOAD
    before = processor_seconds(second.pid)
    reply = service.post(f"external/{name}", content=body.encode(), headers=headers)
    assert reply.status_code in (200, 400), reply.text
    assert processor_seconds(second.pid) - before < MOST_SECONDS


def test_a_form_of_very_many_fields_is_refused_by_their_number(service: httpx.Client) -> None:
    reply = service.post("external/json", content=fill("a=1&").encode(), headers=FORM)
    assert reply.status_code == 400
    assert "too many parameters" in reply.json()["msg"]


def test_a_payload_has_a_mebibyte_at_most(service: httpx.Client) -> None:
    check_success(service.post("external/json", content=b'"' + b"x" * (1024 * 1024 - 2) + b'"'))
    too_large = b'"' + b"x" * (1024 * 1024 - 1) + b'"'
    check_error(service.post("external/json", content=too_large), "PAYLOAD_TOO_LARGE", 413)


def test_a_long_text_is_told_from_its_beginning(realm: Realm, service: httpx.Client) -> None:
    text = "first " + "<https://example.com|tea> " * 20_000 + " last"
    check_success(service.post("external/slack_incoming", json={"text": text}))
    [message] = realm.member.window(before=1, apply_markdown=False)["messages"][-1:]
    assert message["content"].startswith("first [tea](https://example.com) [tea]")
    assert message["content"].endswith("…")
    assert len(message["content"]) > 9_000
