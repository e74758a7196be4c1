"""A synchronous standby that takes its time.

While PostgreSQL waits for it, a transaction is in the write-ahead log, and the relay has read it, but no new snapshot sees
it: the window that is some microseconds wide otherwise, and milliseconds on a busy machine.
"""

import select
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg2
import psycopg2.extras

NAME = "slow_standby"


@contextmanager
def slow_standby(url: str, delay: float) -> Iterator[None]:
    """Every commit is confirmed this many seconds late."""
    stop = threading.Event()
    confirming = threading.Thread(target=_confirm_late, args=(url, delay, stop))
    confirming.start()
    try:
        _require(url, NAME)
        yield
    finally:
        _require(url, "")
        stop.set()
        confirming.join()


def _require(url: str, names: str) -> None:
    connection = psycopg2.connect(url)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            if names:
                _await_standby(cursor)
            cursor.execute("set synchronous_commit = local")
            cursor.execute(f"alter system set synchronous_standby_names = '{names}'")
            cursor.execute("select pg_reload_conf()")
    finally:
        connection.close()


def _await_standby(cursor: psycopg2.extensions.cursor) -> None:
    deadline = time.monotonic() + 20
    while True:
        cursor.execute("select count(*) from pg_stat_replication where application_name = %s", [NAME])
        if cursor.fetchone() == (1,):
            return
        assert time.monotonic() < deadline, "the standby did not connect"
        time.sleep(0.02)


def _confirm_late(url: str, delay: float, stop: threading.Event) -> None:
    connection = psycopg2.connect(
        url, connection_factory=psycopg2.extras.PhysicalReplicationConnection, application_name=NAME
    )
    try:
        with connection.cursor() as cursor:
            cursor.execute("IDENTIFY_SYSTEM")
            row = cursor.fetchone()
            assert row is not None
            cursor.start_replication(slot_type=psycopg2.extras.REPLICATION_PHYSICAL, start_lsn=row[2])
            due: deque[tuple[float, int]] = deque()
            while not stop.is_set():
                while (message := cursor.read_message()) is not None:
                    due.append((time.monotonic() + delay, message.data_start + len(message.payload)))
                select.select([connection], [], [], 0.002)
                reached = 0
                while due and due[0][0] <= time.monotonic():
                    reached = due.popleft()[1]
                if reached:
                    cursor.send_feedback(reached, reached, reached, force=True)  # type: ignore[no-untyped-call]
    finally:
        connection.close()
