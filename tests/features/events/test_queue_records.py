"""The records of queues in JetStream: found by one question, within the time that a client does not notice."""

import asyncio
import signal
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client

from tertulia.engines import Nats, find_nats_server
from tertulia.events.log.buckets import QUEUE_BUCKET, ensure_buckets, reaches
from tertulia.events.log.jetstream import StreamUnavailable, delete_stream
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.queues.options import QueueOptions
from tertulia.events.queues.queue_record import QueueRecord, drop_record, find_record, find_records, put_record
from tertulia.kernel.settings import load_settings
from tests.harness.talk import eventually

NOTICED_SECONDS = 5.0  # a question is given up after 2; two questions of 5 one after another were the mistake


@pytest.fixture
def nats_server(folder: Path) -> Iterator[Nats]:
    with Nats(find_nats_server(load_settings()), folder / "nats") as server:
        yield server
        server.process.send_signal(signal.SIGCONT)


@pytest.fixture
async def nc(nats_server: Nats) -> AsyncIterator[Client]:
    async def quiet(_: Exception) -> None:
        pass

    client = await nats.connect(
        nats_server.url, max_reconnect_attempts=-1, reconnect_time_wait=0.1, ping_interval=60, error_cb=quiet
    )
    await ensure_buckets(client)
    yield client
    await asyncio.wait_for(client.close(), 10)


def stop(server: Nats) -> None:
    """From now on it does nothing: a signal is only on its way when it is sent, and each thread stops for itself."""
    server.process.send_signal(signal.SIGSTOP)
    threads = Path(f"/proc/{server.process.pid}/task")
    eventually(lambda: all(" T " in (one / "stat").read_text() for one in threads.iterdir()))


async def put_some_record(nc: Client) -> QueueRecord:
    snapshot = Snapshot(xmin=1, xmax=1, under_way=frozenset(), lsn="0" * 16)
    record = QueueRecord(str(uuid.uuid4()), 1, 7, 400, 1, 0, snapshot, QueueOptions(), idle_seconds=600)
    await put_record(nc, record)
    return record


async def test_a_record_is_found_until_it_is_deleted(nc: Client) -> None:
    record = await put_some_record(nc)
    assert await find_record(nc, record.id) == record
    await drop_record(nc, record.id)
    assert await find_record(nc, record.id) is None


async def test_without_the_bucket_there_are_no_records(nc: Client) -> None:
    await delete_stream(nc, f"KV_{QUEUE_BUCKET}")
    assert await find_record(nc, str(uuid.uuid4())) is None


async def test_many_records_are_found_together_and_those_that_are_gone_are_not(nc: Client) -> None:
    records = [await put_some_record(nc) for _ in range(30)]
    await drop_record(nc, records[3].id)
    never, no_id = str(uuid.uuid4()), "no id at all"
    found = await find_records(nc, [record.id for record in records] + [never, no_id])
    assert {queue_id: one.record for queue_id, one in found.items()} == {
        record.id: record for record in records if record is not records[3]
    }
    assert all(-1 < one.age < 60 for one in found.values())
    assert await find_records(nc, [never, records[3].id]) == {}
    await delete_stream(nc, f"KV_{QUEUE_BUCKET}")
    assert await find_records(nc, [record.id for record in records]) == {}


def test_a_replica_that_is_behind_or_does_not_say_how_far_it_has_come_is_not_believed() -> None:
    assert reaches({"Nats-UpTo-Sequence": "7"}, 7)
    assert not reaches({"Nats-UpTo-Sequence": "6"}, 7)
    assert not reaches({"Status": "404"}, 0)


@pytest.mark.timed
async def test_that_nats_does_not_answer_is_known_soon(nc: Client, nats_server: Nats) -> None:
    record = await put_some_record(nc)
    stop(nats_server)
    asked = time.monotonic()
    with pytest.raises(StreamUnavailable):
        await find_record(nc, record.id)
    assert time.monotonic() - asked < NOTICED_SECONDS
    nats_server.process.send_signal(signal.SIGCONT)


@pytest.mark.timed
async def test_a_record_is_found_though_nats_dies_with_the_question(nc: Client, nats_server: Nats) -> None:
    record = await put_some_record(nc)
    stop(nats_server)
    asked = time.monotonic()
    finding = asyncio.create_task(find_record(nc, record.id))
    await asyncio.sleep(0.1)
    nats_server.kill()
    nats_server.start()
    assert await finding == record
    assert time.monotonic() - asked < NOTICED_SECONDS
