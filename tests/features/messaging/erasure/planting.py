"""A word in every column of a person's data, and the places where it could be left."""

import asyncio
from pathlib import Path

import nats

from tertulia.events.log.jetstream import get_batch, list_streams
from tertulia.messaging.erasure.tables import TABLES, Gone
from tests.features.messaging.erasure.rows import ROWS
from tests.harness.stage import Stage

TEXTS = """
select attname, format_type(atttypid, atttypmod) from pg_attribute
where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = ''
    and format_type(atttypid, null) in ('text', 'jsonb', 'text[]', 'bytea')
"""
TABLE_NAMES = "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1"

CLOSED = {
    "api_key.made_by",
    "browser_session.digest",
    "api_key.digest",
    "channel_address.digest",
    "email_change.digest",
    "email_change.old_digest",
    "invitation.digest",
    "invitation.key",
    "passkey_challenge.digest",
    "password_reset.digest",
    "push_subscription.public_key",
    "push_subscription.session_digest",
    "recovery_code.digest",
    "reply_address.digest",
    "second_factor.handle",
    "subscription.color",
    "user_status.reaction_type",
}
"""A word does not fit: digests, words of a closed list, and the key of a link where the row is an address."""


def plant(stage: Stage, word: str, values: dict[str, object]) -> None:
    """A row of each table that a person has rows in, and the word in each of its texts. Fails for a column that takes none."""
    refused = set()
    for table, line in TABLES.items():
        if not isinstance(line, Gone):
            continue
        # Our own numbers and word, no text of a stranger.
        row = ROWS[table] % {name: f"'{value}'" if isinstance(value, str) else value for name, value in values.items()}
        stage.sql(f"insert into {table} {row} on conflict do nothing")
        where = f"{line.column} in ({values['user']}, {values['bot']})"
        assert stage.sql(f"select count(*) from {table} where {where}") != [(0,)], f"{table}: nothing planted"
        for column, kind in stage.sql(TEXTS, table):
            if not _write(stage, table, column, kind, word, where):
                refused.add(f"{table}.{column}")
    assert sorted(refused ^ CLOSED) == [], sorted(refused ^ CLOSED)
    for column in ("settings", "timezone", "password_hash"):
        assert _write(
            stage, "account", column, "jsonb" if column == "settings" else "text", word, f"id = {values['user']}"
        )


def _write(stage: Stage, table: str, column: str, kind: str, word: str, where: str) -> bool:
    new = {
        "jsonb": f"{column} || jsonb_build_object('planted', '{word}')",
        "text[]": f"array['{word}']",
        "bytea": f"'{word}'::bytea",
    }.get(kind, f"left(coalesce({column}, ''), 8) || '{word}'")
    try:
        stage.sql(f"update {table} set {column} = {new} where {where}")
    except Exception:  # a constraint of any kind
        return False
    return True


def found_in_database(stage: Stage, word: str) -> dict[str, int]:
    """By table: rows that have the word in them, as text or as bytes."""
    hidden = word.encode().hex()
    found = {}
    for (table,) in stage.sql(TABLE_NAMES):
        sql = f"select count(*) from {table} as one where one::text ilike any(%s)"
        [(count,)] = stage.sql(sql, [f"%{word}%", f"%{hidden}%"])
        if count:
            found[table] = count
    return found


def found_in_files(folder: Path, word: str) -> list[str]:
    """Files that have the word in their name or content."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and (word in str(path) or word.encode() in path.read_bytes())
    ]


def found_in_streams(nats_url: str, word: str) -> set[str]:
    """Streams that have the word in a message."""

    async def look() -> set[str]:
        client = await nats.connect(nats_url)
        found = set()
        try:
            for stream in await list_streams(client):
                seq = stream.first_seq
                while seq <= stream.last_seq:
                    batch = await get_batch(client, stream.name, {"batch": 500, "seq": max(seq, 1)})
                    if not batch.messages:
                        break
                    if any(word.encode() in (msg.data or b"") for msg in batch.messages):
                        found.add(stream.name)
                    seq = int((batch.messages[-1].headers or {})["Nats-Sequence"]) + 1
        finally:
            await client.close()
        return found

    return asyncio.run(look())
