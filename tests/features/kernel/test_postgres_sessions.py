"""What the planner must know is said by every session of ours: PostgreSQL's own defaults are for spinning disks."""

from contextlib import closing

import psycopg2
import pytest

from tertulia.kernel.db import Database
from tests.harness.server import Engines


@pytest.mark.anyio
async def test_sessions_tell_the_planner_that_pages_are_read_quickly_in_any_order(engines: Engines) -> None:
    url = engines.postgres.url
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("alter role current_user set random_page_cost = 4")  # what a new PostgreSQL has
        connection.commit()
    try:
        async with await Database.connect(url, shards=1, size=1) as database, database.reader() as reader:
            assert await reader.fetchval("show random_page_cost") == "1.1"
            assert await reader.fetchval("show jit") == "off"
    finally:
        with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
            cursor.execute("alter role current_user reset random_page_cost")
            connection.commit()
