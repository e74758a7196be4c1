"""Past advisories, class DS: every text that a request can bring has a limit (docs/reference/advisories.md).

Each text parameter of each endpoint is sent much too long, by an owner who could call it otherwise. Whatever is answered: no
column of the database holds so much of it afterwards. A new parameter is in the test without further work.
"""

from collections.abc import Iterator

import pytest

from tertulia.kernel.endpoint import PREFIX, Endpoint
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.features.server.test_endpoints import Scene
from tests.features.tables.endpoint_table import TABLE, Row
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage

PIECE = "tooLong7"
HUGE = PIECE * 2_450
"""Just short of what no text parameter takes (kernel/json_guard.py): the limits of each one are tried here."""
MOST = PIECE * 2_000
"""Longer than a message may be, which is the longest text there is."""
LARGE_ON_PURPOSE = {("bot_storage", "value"): "a bot's own texts, bounded in all: bot_storage_characters"}


def key_of(endpoint: Endpoint) -> str:
    if endpoint.path.startswith(PREFIX):
        return f"{endpoint.method} {endpoint.path.removeprefix(PREFIX)}"
    return f"{endpoint.method} outside {endpoint.path}"


TEXTS = {
    key_of(endpoint): [
        param.name for param in endpoint.params if param.is_text or param.annotation in (str, str | None)
    ]
    for endpoint in endpoints_of(FEATURES)
    if endpoint.method != "GET"
}


@pytest.fixture(scope="module")
def scene(server: Server, backstage: Backstage) -> Iterator[Scene]:
    stage = Stage(server, backstage)
    try:
        yield Scene(stage)
    finally:
        stage.close()


def test_ds_15_no_text_of_a_request_is_kept_without_a_limit(scene: Scene) -> None:
    asked = [(key, name) for key, names in TEXTS.items() for name in names if f"{{{name}}}" not in key]
    assert len(asked) > 60
    for key, name in asked:
        row = TABLE[key]
        reply = scene.call(key, Row(row.letters, {**row.fields, name: HUGE}), "owner")
        assert reply.status_code < 500, (key, name, reply.text)
    stage = scene.realm.stage
    columns = stage.sql(
        """select table_name, column_name from information_schema.columns
        where table_schema = 'public' and data_type in ('text', 'character varying', 'jsonb', 'json', 'ARRAY')"""
    )
    found = [
        (table, column)
        for table, column in columns
        if (table, column) not in LARGE_ON_PURPOSE
        and stage.sql(f'select 1 from "{table}" where position(%s in "{column}"::text) > 0 limit 1', MOST)
    ]
    assert found == []
