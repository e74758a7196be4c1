"""HTML that was stored before a mend of the markup: the worker's pass through it, which a migration asks for."""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg2
import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.messaging.editing.renewing.actions import renew_rendered
from tertulia.migrations import migrate
from tests.harness.server import Engines

NAME = "old_messages"
URL = "https://a.example/cat.png"
PICTURE = f'<div class="message_inline_image"><a href="{URL}"><img src="{URL}"></a></div>'
SOUND = '<p><audio controls="" preload="metadata" src="https://a.example/x.mp3" title="song"></audio></p>'
LINK = '<p>!<a href="https://a.example/x.mp3">song</a></p>'


class OldDatabase:
    """Has 4,100 messages, of which every hundredth shows a picture from elsewhere."""

    def __init__(self, url: str) -> None:
        self.url = url

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(psycopg2.connect(self.url)) as connection, connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def fill(self) -> None:
        self.sql("insert into realm (subdomain, name) values ('old', 'Old')")
        self.sql(
            "insert into account (realm_id, email, email_key, full_name) select id, 'a@b.example', 'a@b.example', 'A' from realm"
        )
        self.sql("insert into conversation (realm_id, participants) select realm_id, array[id] from account")
        self.sql(
            """
            insert into message (realm_id, conversation_id, seq, sender_id, client, content, rendered)
            select account.realm_id, conversation.id, number, account.id, 'test', 'text',
                case when number %% 100 = 0 then %s else '<p>text</p>' end
            from account, conversation, generate_series(1, 4100) as number order by number
            """,
            PICTURE,
        )
        self.sql(
            """
            insert into message_revision (message_id, changed_at, prev_content, prev_rendered, number)
            select id, now(), 'text', %s, 1 from message order by id limit 3
            """,
            f"{PICTURE}\n{SOUND}",
        )
        self.sql("insert into rendering_pass (part) values ('message'), ('message_revision')")


@pytest.fixture
def old(engines: Engines) -> Iterator[OldDatabase]:
    _administer(engines, f"create database {NAME}")
    database = OldDatabase(engines.postgres.url_of(NAME))
    try:
        migrate(database.url)
        database.fill()
        yield database
    finally:
        _administer(engines, f"drop database {NAME} with (force)")


async def test_all_that_is_stored_is_made_private(old: OldDatabase) -> None:
    async with await Database.connect(old.url, shards=Settings().shards, size=2) as database:
        changed = await renew_rendered(database)
        assert changed == 44
        assert await renew_rendered(database) == 0
    assert old.sql("select * from rendering_pass") == []
    assert old.sql("select count(*) from message where rendered like %s", '%src="http%') == [(0,)]
    assert old.sql("select count(*) from message_revision where prev_rendered like %s", '%src="http%') == [(0,)]
    [(signature,)] = old.sql("select signature from remote_picture")
    [(html,)] = old.sql("select distinct rendered from message where rendered like %s", "%<img%")
    assert re.fullmatch(
        rf'<div class="message_inline_image"><a href="{URL}"><img class="image-loading-placeholder" '
        rf'src="/external_content/\d+/{signature}"></a></div>',
        html,
    )
    assert old.sql("select distinct prev_rendered from message_revision") == [(f"{html}\n{LINK}",)]
    assert old.sql("select count(*) from remote_picture_link") == [(44,)]


def _administer(engines: Engines, statement: str) -> None:
    connection = psycopg2.connect(engines.postgres.url_of("postgres"))
    connection.autocommit = True
    with closing(connection), connection.cursor() as cursor:
        cursor.execute(statement)
