"""Descriptions with very long HTML in the moment of the upgrade to short ones (migration 0032)."""

import asyncio

import asyncpg
import pytest

from tertulia.content.markup import render_description
from tertulia.migrations import migrate
from tests.harness.server import Engines

pytestmark = pytest.mark.anyio

LONG = "\U0001f600" * 990 + " <b> & \"c\" 'd' \u00a0e\nnext"
SHORT = "*tea* :smile:"
ROWS = """
insert into realm (subdomain, name) values ('old', 'Old');
insert into channel_folder (realm_id, name, name_key, position, description, rendered_description)
    select realm.id, folder.name, folder.name, 1, text, html from realm,
    unnest($1::text[], $2::text[], $3::text[]) as folder(name, text, html)
"""


async def test_what_people_wrote_stays_and_only_long_html_is_replaced(engines: Engines) -> None:
    postgres = await asyncpg.connect(engines.postgres.url)
    await postgres.execute("create database descriptions_migration")
    await postgres.close()
    url = engines.postgres.url_of("descriptions_migration")
    await asyncio.to_thread(migrate, url, "0030")
    connection = await asyncpg.connect(url)
    try:
        realm, folders = ROWS.split(";")
        await connection.execute(realm)
        texts, html = [LONG, SHORT], ["<p>" + "x" * 85_000 + "</p>", "<p>as it was</p>"]
        await connection.execute(folders, ["long", "short"], texts, html)
        await asyncio.to_thread(migrate, url)
        rows = await connection.fetch("select description, rendered_description from channel_folder order by name")
        assert [tuple(row) for row in rows] == [(LONG, render_description(LONG)), (SHORT, "<p>as it was</p>")]
    finally:
        await connection.close()
