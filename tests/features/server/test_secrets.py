"""No secret lies in the database as it is: it is hashed, or sealed with a key that can be rotated."""

import json
import re
import subprocess
from collections.abc import Mapping
from contextlib import closing

import asyncpg
import pytest

from tertulia.kernel.sealing import new_key
from tertulia.server.features import FEATURES
from tests.harness.command import tertulia
from tests.harness.server import OwnServer, Server, is_ready
from tests.harness.talk import Speaker, eventually, unique

SECRET = re.compile(
    r"token|secret|password|passphrase|digest|hash|private|seed|otp|credential|^body$|(^|_)keys?$(?<!name_key)(?<!email_key)"
)
"""Names of columns that may hold a secret. A new one that fits is sealed, hashed, or explained here."""

SEALED = {column.name for feature in FEATURES for column in feature.sealed}
HASHED = {
    *("account.password_hash", "api_key.digest", "browser_session.digest", "email_change.digest", "invitation.digest"),
    *("password_reset.digest", "push_subscription.session_digest", "signup.digest"),
    *("email_change.old_digest", "recovery_code.digest", "passkey_challenge.digest", "scim_token.digest"),
    "provider_logout.digest",
    "channel_address.digest",
    "reply_address.digest",
}
NO_SECRET = {
    "realm_import.digest": "of an archive's manifest: whether it is the same",
    "browser_session.csrf_token": "worth nothing without the session, which is hashed",
    "push_subscription.public_key": "the public half",
    "passkey.credential": "the authenticator's name for a key pair, which signs nothing",
    "passkey.public_key": "the public half",
    "passkey_challenge.credential": "the number of a session or key",
    "sent_request.key": "chosen by clients to name a request of their own",
    "alert_word.word_key": "a word, written in one way",
    "export_job.key": "where an archive lies; whoever asks for it must be allowed to have it",
    "attachment.key": "where a file lies; whoever asks for it there must be allowed to see it",
    "held_copy.key": "where a file lies that a legal hold keeps",
    "held_copy.body": "content that was deleted while it was held, as it was",
    "remote_picture.key": "where a picture lies; its address in messages is signed",
    "orphan_object.key": "where a file lies that is to be deleted",
    "resumable_upload.keys": "where the pieces of a file lie",
    "notice.body": "what the notification bot is about to say in the open",
    "bot_storage.key": "what a bot calls its own entry",
}


async def _columns(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "select table_name || '.' || column_name as name, column_name from information_schema.columns"
            " where table_schema = 'public'"
        )
    finally:
        await connection.close()
    return {row["name"] for row in rows if SECRET.search(row["column_name"])}


@pytest.mark.anyio
async def test_every_column_that_may_hold_a_secret_is_sealed_or_hashed_or_explained(server: Server) -> None:
    found = await _columns(server.postgres_url)
    assert found - SEALED - HASHED - NO_SECRET.keys() == set(), "seal it (Feature.sealed), hash it, or explain it here"
    assert (HASHED | NO_SECRET.keys()) - found == set(), "no such column any more"
    assert not SEALED & (HASHED | NO_SECRET.keys())


@pytest.mark.anyio
async def test_every_hash_is_a_hash(server: Server) -> None:
    """By the constraint of the column: 32 bytes."""
    connection = await asyncpg.connect(server.postgres_url)
    try:
        for name in HASHED - {"account.password_hash", "push_subscription.session_digest"}:
            table, column = name.split(".")
            sql = "select string_agg(pg_get_constraintdef(oid), ' ') from pg_constraint where conrelid = $1::regclass"
            assert f"length({column}) = 32" in str(await connection.fetchval(sql, table)), name
    finally:
        await connection.close()


def _command(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return tertulia(*words, env=env)


def _restart(server: OwnServer) -> None:
    """All processes of ours: a worker writes mails, too, and would go on with the keys that it began with."""
    for name in server.state.metrics:
        server.kill(name)
    eventually(lambda: all(map(is_ready, server.state.metrics.values())))


def _outgoing(owner: Speaker) -> tuple[int, str]:
    name = unique("tea").lower().replace(" ", "-")
    address = json.dumps("http://127.0.0.1:9/hook")
    made = owner.post("bots", full_name=name, short_name=name, bot_type=3, payload_url=address)["user_id"]
    return made, _token(owner, made)


def _token(owner: Speaker, bot_id: int) -> str:
    state = owner.post("register", event_types=[], fetch_event_types=["realm_bot"])
    [own] = [bot for bot in state["realm_bots"] if bot["user_id"] == bot_id]
    token: str = own["services"][0]["token"]
    return token


async def _stored(url: str, bot_id: int) -> str:
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval("select token from bot_service where user_id = $1", bot_id))
    finally:
        await connection.close()


@pytest.mark.anyio
async def test_a_key_is_rotated_and_everything_reads_as_before(own_server: OwnServer) -> None:
    owner = Speaker(own_server, own_server.owner)
    with closing(owner.http):
        await _rotate(own_server, owner)


async def _rotate(own_server: OwnServer, owner: Speaker) -> None:
    bot, token = _outgoing(owner)
    before = await _stored(own_server.postgres_url, bot)
    assert token not in before
    assert before.startswith("sealed1.")

    connection = await asyncpg.connect(own_server.postgres_url)
    # One that was stored before there was a key, and more than a batch of others.
    await connection.execute("update bot_service set token = $2 where user_id = $1", bot, token)
    await connection.execute(
        "insert into mail_outbox (recipient, subject, body, due)"
        " select 'a@example.com', 'Hello', 'A link', now() + interval '1 day' from generate_series(1, 1200)"
    )
    old = own_server.sealing_keys.read_text()
    own_server.sealing_keys.write_text(f"{new_key()}\n{old}")
    _restart(own_server)
    done = _command(own_server.environment(), "secrets", "reseal")
    assert done.returncode == 0, done.stderr
    # A few mails of other tests may be on their way.
    assert re.search(r"(mail_outbox\.body: (500|1000|12\d\d) sealed\n){3}", done.stdout), done.stdout
    prefixes = await connection.fetch("select distinct left(body, 17) as prefix from mail_outbox")
    after = await _stored(own_server.postgres_url, bot)
    await connection.close()
    assert [row["prefix"] for row in prefixes] == [after[:17]]
    assert after[:17] != before[:17]
    again = _command(own_server.environment(), "secrets", "reseal")
    assert "mail_outbox.body: nothing to do" in again.stdout

    # Only the new key is left.
    own_server.sealing_keys.write_text(own_server.sealing_keys.read_text().split()[0])
    _restart(own_server)
    assert _token(owner, bot) == token


@pytest.mark.anyio
async def test_with_the_key_lost_lists_still_answer(own_server: OwnServer) -> None:
    owner = Speaker(own_server, own_server.owner)
    with closing(owner.http):
        bot, _ = _outgoing(owner)
        own_server.sealing_keys.write_text(new_key())
        _restart(own_server)
        assert _token(owner, bot) == ""
    refused = _command(own_server.environment(), "secrets", "reseal")
    assert refused.returncode == 1
    assert "add it to the sealing keys" in refused.stderr


def test_the_doctor_warns_where_nothing_is_sealed(server: Server) -> None:
    assert isinstance(server, OwnServer)
    bare = _command(server.environment(sealing_key_file=""), "doctor")
    assert "WARNING sealing key: secrets in the database are not sealed" in bare.stdout
    assert bare.returncode == 0
    assert "ok      sealing key" in _command(server.environment(), "doctor").stdout
    assert server.sealing_keys.stat().st_mode & 0o077 == 0
