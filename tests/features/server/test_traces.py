"""Traces by OpenTelemetry: what a collector gets of a request, of the worker and of the relay."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.collector import Collector, Span, collecting
from tests.harness.command import tertulia
from tests.harness.server import OwnServer
from tests.harness.talk import Speaker, eventually, unique


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@pytest.fixture(scope="module")
def traced(shared_folder: Path, collector: Collector) -> Iterator[OwnServer]:
    # The exporter would wait for five seconds until it sends what has come together.
    own = OwnServer.start(shared_folder, env={"TERTULIA_TRACES_URL": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"})
    try:
        yield own
    finally:
        own.stop()


@pytest.fixture
def owner(traced: OwnServer) -> Iterator[Speaker]:
    speaker = Speaker(traced, traced.owner)
    with closing(speaker.http):
        yield speaker


def span_of(collector: Collector, request_id: str) -> Span:
    def found() -> list[Span]:
        return [span for span in collector.spans if span.about.get("tertulia.request_id") == request_id]

    eventually(found)
    [span] = found()
    return span


def test_a_collector_sees_a_send_with_its_route_its_answer_and_its_statements(
    owner: Speaker, traced: OwnServer, collector: Collector
) -> None:
    channel = next(iter(traced.channels.values()))
    secret = unique("secret").replace(" ", "")
    fields = {"type": "channel", "to": channel, "topic": f"{secret} topic", "content": f"{secret} text"}
    reply = owner.request("POST", "messages", **fields)
    assert reply.status_code == 200
    span = span_of(collector, reply.headers["x-request-id"])
    assert (span.process, span.name, span.has_failed) == ("web", "POST /api/v1/messages", False)
    assert (span.about["http.route"], span.about["http.response.status_code"]) == ("/api/v1/messages", 200)
    assert (span.about["tertulia.endpoint"], span.about["tertulia.user_id"]) == ("send_message", owner.id)
    eventually(lambda: len(collector.below(span)) == span.about["tertulia.statements"])
    statements = collector.below(span)
    names = [one.name for one in statements]
    assert names.count("begin") >= 1
    assert names.count("commit") >= 1
    assert [name for name in names if name.startswith("messaging.sending.")], names
    assert [name for name in names if name.startswith("people.users.authentication.")], names
    assert all(0 <= one.seconds <= span.seconds for one in statements)
    assert {str(value) for one in statements for value in one.about.values()} == {"postgresql"}
    for told in (secret, owner.email, owner.user.api_key, "select "):
        assert told.encode() not in collector.raw


def test_a_request_that_nothing_answers_is_told_without_its_path(owner: Speaker, collector: Collector) -> None:
    span = span_of(collector, owner.request("GET", "nothing/s3cret").headers["x-request-id"])
    assert (span.name, span.about["http.response.status_code"]) == ("GET", 404)
    assert b"s3cret" not in collector.raw
    odd = owner.request("S3CRET-METHOD", "users/me")
    span = span_of(collector, odd.headers["x-request-id"])
    assert (span.about["http.request.method"], odd.status_code) == ("_OTHER", 405)
    assert b"S3CRET-METHOD" not in collector.raw


def test_the_relay_tells_how_long_after_its_commit_a_transaction_is_in_the_log(
    owner: Speaker, collector: Collector
) -> None:
    owner.send([owner.id])
    eventually(
        lambda: [span for span in collector.spans if (span.process, span.name) == ("relay", "relay transaction")]
    )


def test_a_worker_tells_what_it_did_and_not_that_it_looked(owner: Speaker, collector: Collector) -> None:
    due = int(time.time()) + 3
    later = {"type": "direct", "to": [owner.id], "content": "Later", "scheduled_delivery_timestamp": due}
    owner.post("scheduled_messages", **later)

    def told() -> list[Span]:
        return [span for span in collector.spans if span.name == "chore scheduled messages"]

    eventually(told)
    [span] = told()
    assert (span.process, span.about["tertulia.pieces"]) == ("worker", 1)
    assert [one.name for one in collector.below(span) if one.name.startswith("messaging.scheduled.")]


def test_nothing_of_opentelemetry_is_loaded_where_nobody_collects() -> None:
    loaded = "import sys, tertulia.server.web, tertulia.server.worker, tertulia.events.relay.process, json"
    said = subprocess.run(
        [sys.executable, "-c", f"{loaded}; print(json.dumps([n for n in sys.modules if 'opentelemetry' in n]))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(said.stdout) == []


def test_without_the_extra_a_process_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "opentelemetry.py").write_text("raise ImportError('not installed')\n")
    env = {"TERTULIA_TRACES_URL": "http://127.0.0.1:9/v1/traces", "PYTHONPATH": str(tmp_path)}
    done = tertulia("worker", env=env)
    assert done.returncode == 1
    assert "traces_url needs the extra: pip install 'tertulia[traces]'" in done.stderr
