"""Where files are kept takes every request and never answers: who wants a file waits for a while, and nobody else notices.
Or it says what there is, and does not give it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.files import fetch, post_file, upload
from tests.harness.server import Server
from tests.harness.silence import silent_bucket, silent_service, withholding_service
from tests.harness.stage import Stage, Web, later
from tests.harness.talk import check_error

PATIENCE = 4.0
CONNECTIONS = 3
UPLOADS = 3 * CONNECTIONS


@pytest.fixture
def web(server: Server, folder: Path) -> Iterator[Web]:
    with silent_service() as place:
        web = Web(server, folder, pool_size=CONNECTIONS, s3_seconds=PATIENCE, **silent_bucket(place))
        try:
            yield web.wait()
        finally:
            web.stop()


def test_a_store_that_never_answers_stops_nobody_but_who_wants_a_file(stage: Stage, web: Web) -> None:
    speaker = stage.speaker(url=web.url)
    channel = stage.channel(speaker)
    queue = speaker.register()
    began = time.monotonic()
    uploads = [later(post_file, speaker, f"{number}.txt", b"words") for number in range(UPLOADS)]
    while time.monotonic() < began + PATIENCE / 2:  # all of them are under way by then
        sent = speaker.send(channel.stream_id, "tea", "Is it ready?")
        assert [event["message"]["id"] for event in queue.poll() if event["type"] == "message"] == [sent]
        assert speaker.window(before=1)["messages"][-1]["id"] == sent
    assert not any(waiting.done() for waiting in uploads)
    for waiting in uploads:
        check_error(waiting.result(60), "SERVER_NOT_READY", 503)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(("status", "answered"), [(403, (503, "SERVER_NOT_READY")), (404, (404, "NOT_FOUND"))])
def test_a_store_that_tells_of_a_file_and_does_not_give_it_is_said_to_be_away(
    stage: Stage, server: Server, folder: Path, status: int, answered: tuple[int, str]
) -> None:
    with withholding_service(status) as place:
        web = Web(server, folder, s3_seconds=PATIENCE, **silent_bucket(place))
        try:
            speaker = stage.speaker(url=web.wait().url)
            reply = fetch(speaker, upload(speaker))
        finally:
            web.stop()
    assert (reply.status_code, reply.json()["code"]) == answered
