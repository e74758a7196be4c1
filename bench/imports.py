"""An import of many messages: how many a second from the first byte to an organization that people see.

Beside it, in the same run: rendering the same texts alone, in one process, and PostgreSQL's COPY of the same rows into a table
with the same indexes.
"""

import asyncio
import json
import time
from pathlib import Path

import psycopg2

from bench.backup import run
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tertulia.archives.form import kinds
from tertulia.archives.loading.beginning import Begun
from tertulia.archives.loading.rendering import Batch, Renderer
from tertulia.archives.loading.shifts import Shifts
from tertulia.archives.loading.world import read_world
from tertulia.archives.reading.archive import open_archive
from tertulia.kernel.db import Database
from tertulia.kernel.settings import load_settings

# A third of the texts has a mention, code or a link; a fifth of the messages a reaction.
_SPICE = """
update message set content = content || case id % 9
    when 0 then ' @**|' || (select min(id) from account where realm_id = message.realm_id) || '** look'
    when 3 then E'\n```python\ndef f(x):\n    return x + 1\n```'
    else ' see https://example.com/page/' || id || ' and **this**' end
where id % 3 = 0
"""
_REACT = """
insert into reaction (message_id, user_id, emoji_name, emoji_code, reaction_type)
select message.id, (select min(id) from account where realm_id = message.realm_id), 'tada', '1f389', 'unicode_emoji'
from message where id % 5 = 0
"""
_COLUMNS = """id, realm_id, conversation_id, seq, topic_id, sender_id, sent_at, client, content, rendered, wildcard, has_link,
has_image, has_attachment, arrived, topic_since"""
_SAME = "create table bare (like message including defaults including generated including indexes)"


def measure(*, quick: bool, messages: int | None = None) -> Report:
    messages = messages or (20_000 if quick else 1_000_000)
    with open_stage(external_host="localhost") as stage:
        stage.fill(users=200, channels=20, messages=messages, subscribers=100)
        for statement in (_SPICE, _REACT, "analyze"):
            asyncio.run(stage.sql(statement))
        file = stage.folder / "whole.tar"
        assert run(stage, "export", "", str(file)).code == 0
        start = run(stage, "archive", "--help").seconds
        check = run(stage, "archive", "check", str(file))
        made = run(stage, "import", "archive", str(file), "--subdomain", "moved", "--json")
        assert made.code == 0, made.said
        report = json.loads(made.said[made.said.index("{") :])  # after what it told on its way
        count = report["counts"]["messages"]
        rendering = render_alone(stage, file)
        bare = copy_alone(stage, report["realm_id"])
    both = 1 / (1 / rendering + 1 / bare)
    return Report(
        "bench import",
        {"messages": f"{count:,}: a third with a mention, code or a link, a fifth with a reaction"},
        [
            Figure(
                "import, end to end",
                count / (made.seconds - start),
                "messages/s",
                both,
                "",
                f"{made.seconds:.1f} s, most memory of one process {made.memory / 1e6:.0f} MB",
            ),
            Figure("  processor time of the command", made.cpu, "s"),
            Figure("  of which reading the archive whole", count / (check.seconds - start), "messages/s"),
            Figure("rendering alone, one process", rendering, "messages/s"),
            Figure("COPY of the same rows alone", bare, "messages/s"),
        ],
        [
            "bare: what rendering in one process and COPY allow, one after the other",
            f"the time that the command takes to start ({start:.1f} s) is not counted",
        ],
    )


def render_alone(stage: Stage, file: Path) -> float:
    """Messages a second. The world is that of the import, with the archive's ids: names are found as they were there."""
    settings = load_settings(env=stage.server.environment())

    async def work() -> float:
        with open_archive(file) as archive:
            [organization] = archive.of(kinds.Organization)
            async with await Database.connect(settings.postgres_url, shards=settings.shards, size=1) as database:
                begun = Begun(organization.id, Shifts(), "messages", 0, goes_on=False)
                renderer = Renderer(await read_world(database, begun, organization, [], "http://localhost"))
            lines = list(archive.of(kinds.Message))
            started = time.perf_counter()
            for place in range(0, len(lines), 1000):
                renderer.write(Batch(lines[place : place + 1000], {}, {}))
            return len(lines) / (time.perf_counter() - started)

    return asyncio.run(work())


def copy_alone(stage: Stage, realm_id: int) -> float:
    """Messages a second."""
    rows = stage.folder / "rows"
    connection = psycopg2.connect(stage.server.postgres_url)
    try:
        with connection, connection.cursor() as cursor, rows.open("wb") as target:
            asked = f"copy (select {_COLUMNS} from message where realm_id = {realm_id} order by conversation_id, id)"
            cursor.copy_expert(f"{asked} to stdout", target)
            cursor.execute(_SAME)
        with connection, connection.cursor() as cursor, rows.open("rb") as source:
            started = time.perf_counter()
            cursor.copy_expert(f"copy bare ({_COLUMNS}) from stdin", source)
            count = cursor.rowcount
        return float(count / (time.perf_counter() - started))
    finally:
        connection.close()
