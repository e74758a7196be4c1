"""Notices and reminders that wait in the moment of the upgrade to texts from parts (migration 0017)."""

import asyncio
import json

import asyncpg
import pytest

from tertulia.migrations import migrate
from tests.harness.server import Engines

pytestmark = pytest.mark.anyio

ROWS = """
insert into realm (subdomain, name) values ('old', 'Old');
insert into account (realm_id, email, email_key, full_name, role)
    select id, 'a@example.com', 'a@example.com', 'Anna', 400 from realm where subdomain = 'old';
insert into notice (realm_id, body) select id, '{"content": "**said**", "topic": "t"}' from realm where subdomain = 'old';
insert into reminder (realm_id, user_id, message_id, content, note, rendered, due)
    select realm_id, id, 5, 'secret', n, '<p>secret</p>', now() from account, unnest(array['', 'a <b> & c']) as n
    where email = 'a@example.com';
"""


async def test_what_waits_is_kept_and_nothing_of_messages_is(engines: Engines) -> None:
    postgres = await asyncpg.connect(engines.postgres.url)
    await postgres.execute("create database texts_migration")
    await postgres.close()
    url = engines.postgres.url_of("texts_migration")
    await asyncio.to_thread(migrate, url, "0015")
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(ROWS)
        await asyncio.to_thread(migrate, url)
        body = json.loads(await connection.fetchval("select body::text from notice"))
        assert body == {"text": [{"type": "Written", "content": "**said**"}], "topic": "t"}
        assert "secret" not in str(await connection.fetch("select * from reminder"))
        notes = [row[0] for row in await connection.fetch("select rendered_note from reminder order by note")]
        assert notes == ["", "<p>a &lt;b&gt; &amp; c</p>"]
    finally:
        await connection.close()
