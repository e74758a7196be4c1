"""A registration waits for few round trips: it is answered in time even if PostgreSQL is far away."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.forwarder import Forwarder
from tests.harness.server import Server
from tests.harness.stage import Stage, Web

ONE_WAY = 0.1
STATEMENTS = 6


@pytest.fixture
def far_web(server: Server, folder: Path) -> Iterator[Web]:
    with Forwarder(server.postgres_url, delay=ONE_WAY) as way:
        web = Web(server, folder, postgres_url=way.url, pool_size=3)
        try:
            yield web.wait()
        finally:
            web.stop()


@pytest.mark.timed
def test_a_registration_is_answered_in_three_seconds_where_a_round_trip_takes_a_fifth_of_one(
    stage: Stage, far_web: Web
) -> None:
    speaker = stage.speaker(url=far_web.url)
    near = stage.speaker(speaker.user)
    channel = stage.channel(near)
    near.send(channel.stream_id, "far")
    seconds = []
    for _ in range(5):  # the first have to make their statements known
        began = time.monotonic()
        state = speaker.post("register")
        seconds.append(time.monotonic() - began)
        assert channel.stream_id in [one["stream_id"] for one in state["subscriptions"]]
    assert STATEMENTS * 2 * ONE_WAY <= min(seconds) < 3.0, seconds
