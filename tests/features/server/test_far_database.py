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
"""Who calls, the beginning, who they are at that moment, the state in two, the end: all but the first in one snapshot."""
UNKNOWN = 10
"""So many more for the first of a process: PostgreSQL is told the statements, and asked what their columns are; and what is kept
by its version is read."""


@pytest.fixture
def way(server: Server) -> Iterator[Forwarder]:
    with Forwarder(server.postgres_url, delay=ONE_WAY) as way:
        yield way


@pytest.fixture
def far_web(server: Server, folder: Path, way: Forwarder) -> Iterator[Web]:
    web = Web(server, folder, postgres_url=way.url, pool_size=3)
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.mark.timed
def test_a_registration_is_answered_in_three_seconds_where_a_round_trip_takes_a_fifth_of_one(
    stage: Stage, far_web: Web, way: Forwarder
) -> None:
    speaker = stage.speaker(url=far_web.url)
    near = stage.speaker(speaker.user)
    channel = stage.channel(near)
    near.send(channel.stream_id, "far")
    seconds, trips = [], []
    for _ in range(5):
        began, before = time.monotonic(), way.round_trips
        state = speaker.post("register")
        seconds.append(time.monotonic() - began)
        trips.append(way.round_trips - before)
        assert channel.stream_id in [one["stream_id"] for one in state["subscriptions"]]
    assert min(trips) == STATEMENTS, trips
    assert trips[0] <= STATEMENTS + UNKNOWN, trips
    assert STATEMENTS * 2 * ONE_WAY <= min(seconds) < 3.0, seconds
