"""Who was erased after an archive was made is erased again when it is restored."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

import psycopg2
import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.form import WrongForm
from tests.features.backups.conftest import Source
from tests.features.messaging.erasure.planting import TABLE_NAMES, found_in_files
from tests.harness.command import said_once, tertulia
from tests.harness.files import upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_success


def test_a_restore_of_an_older_archive_repeats_later_erasures_and_touches_nobody_else(
    source: Source, realm: Realm, stage: Stage, server: OwnServer, empty_database: Callable[[], str], folder: Path
) -> None:
    word = f"planted{time.time_ns():x}"
    person, other = realm.speaker(), realm.member
    channel = stage.channel(person, other, realm_id=realm.id)
    check_success(person.request("PATCH", "settings", full_name=f"{word} Smith"))
    person.send(channel.stream_id, "tea", f"{word} {upload(person, f'{word}.txt', word.encode())}")
    other.send(channel.stream_id, "tea", f"Dear @**{word} Smith**")
    place = folder / "place"
    source.make(place, is_encrypted=False)
    words = ("user", "erase", person.email, "--realm", realm.subdomain, "--messages", "delete", "--yes")
    done = tertulia(*words, env=server.environment(backup_place=place))
    assert (done.returncode, done.stderr) == (0, "")
    [listed] = [path for path in (place / "erasures").iterdir() if f".{person.id}." in path.name]
    said = json.loads(listed.read_text())
    assert said.keys() == {"realm", "user_id", "joined", "messages", "asked"}
    # In a restored database a number may be given to somebody else, who came at another time.
    stranger = said | {"user_id": other.id}
    listed.with_name(listed.name.replace(f".{person.id}.", f".{other.id}.")).write_text(json.dumps(stranger))

    url = empty_database()
    env = {"TERTULIA_POSTGRES_URL": url, "TERTULIA_STORAGE_FOLDER": str(folder / "files")}
    restored = tertulia("restore", f"{place}/latest", "--json", env=env)
    assert restored.returncode == 0, restored.stderr
    assert json.loads(restored.stdout)["erased"] == 1
    assert word_in(url, word) == []
    assert found_in_files(folder / "files", word) == []
    assert names_in(url, person.id, other.id) == [f"Deleted user {person.id}", "Somebody New"]
    again = tertulia("backup", "erasures", str(place), env=env)
    assert (again.returncode, again.stdout) == (0, "0\n"), again.stderr
    [(joined,)] = stage.sql("select date_joined from account where id = %s", other.id)
    held = stranger | {"joined": joined.isoformat()}
    listed.with_name(listed.name.replace(f".{person.id}.", f".{other.id}.")).write_text(json.dumps(held))
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("insert into legal_hold (realm_id, user_id) values (%s, %s)", (realm.id, other.id))
    refused = tertulia("backup", "erasures", str(place), env=env)
    assert refused.returncode == 1
    assert f"Account {other.id} is not erased again. This person, or the whole" in refused.stderr


def test_a_restore_that_did_not_come_to_its_end_lets_nobody_work_and_goes_on_where_it_was(
    source: Source, realm: Realm, server: OwnServer, empty_database: Callable[[], str], folder: Path
) -> None:
    person = realm.speaker()
    place, other_place = folder / "place", folder / "other"
    source.make(place, is_encrypted=False)
    source.make(other_place, is_encrypted=False)
    words = ("user", "erase", person.email, "--realm", realm.subdomain, "--yes")
    assert tertulia(*words, env=server.environment(backup_place=place)).returncode == 0
    damaged = place / "erasures" / "damaged.json"
    damaged.write_text("{")
    url = empty_database()
    env = {"TERTULIA_POSTGRES_URL": url, "TERTULIA_STORAGE_FOLDER": str(folder / "files")}
    command = ("restore", f"{place}/latest", "--json")
    assert "cannot be read" in said_once(tertulia(*command, env=env))
    assert names_in(url, person.id) == ["Somebody New"], "who was erased is back"
    with pytest.raises(WrongForm, match="tertulia restore"):
        let_in(url)
    assert "not empty" in said_once(tertulia("restore", f"{other_place}/latest", env=env))
    damaged.unlink()
    restored = tertulia(*command, env=env)
    assert restored.returncode == 0, restored.stderr
    assert json.loads(restored.stdout)["erased"] == 1
    assert names_in(url, person.id) == [f"Deleted user {person.id}"]
    let_in(url)
    assert "not empty" in said_once(tertulia(*command, env=env))


def test_what_was_said_later_of_somebodys_messages_is_repeated_too(
    source: Source, realm: Realm, stage: Stage, server: OwnServer, empty_database: Callable[[], str], folder: Path
) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    people = [realm.speaker() for _ in range(2)]
    stage.add(channel, *people)
    said = [person.send(channel.stream_id, "tea", "mine") for person in people]
    place = folder / "place"

    def erase(person: Speaker, messages: str) -> None:
        words = ("user", "erase", str(person.id), "--realm", realm.subdomain, "--messages", messages, "--yes")
        done = tertulia(*words, env=server.environment(backup_place=place))
        assert (done.returncode, done.stderr) == (0, "")

    erase(people[0], "keep")
    source.make(place, is_encrypted=False)
    erase(people[1], "keep")
    for person in people:  # of the one the archive knows the first choice, of the other none
        erase(person, "delete")
    url = empty_database()
    env = {"TERTULIA_POSTGRES_URL": url, "TERTULIA_STORAGE_FOLDER": str(folder / "files")}
    restored = tertulia("restore", f"{place}/latest", "--json", env=env)
    assert restored.returncode == 0, restored.stderr
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("select count(*) from message where id = any(%s)", (said,))
        assert cursor.fetchall() == [(0,)]
    assert json.loads(restored.stdout)["erased"] == 2
    again = tertulia("backup", "erasures", str(place), env=env)
    assert (again.returncode, again.stdout) == (0, "0\n"), again.stderr


def let_in(url: str) -> None:
    """As a process of the server begins."""

    async def connect() -> None:
        await (await Database.connect(url, shards=1, size=1, checked=True)).close()

    asyncio.run(connect())


def word_in(url: str, word: str) -> list[str]:
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(TABLE_NAMES)
        tables = [name for (name,) in cursor.fetchall()]
        sql = " union all ".join(f"select '{one}' from {one} as row where row::text ilike %(word)s" for one in tables)
        cursor.execute(sql, {"word": f"%{word}%"})
        return [name for (name,) in cursor.fetchall()]


def names_in(url: str, *ids: int) -> list[str]:
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "select full_name from account where id = any(%s) order by array_position(%s, id)", (list(ids),) * 2
        )
        return [name for (name,) in cursor.fetchall()]
