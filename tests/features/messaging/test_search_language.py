"""Changing the language of search while the server runs."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from typing import Any

import psycopg2

from tests.harness.command import said_once, tertulia
from tests.harness.server import OwnServer
from tests.harness.talk import Json, Speaker, eventually


def change(server: OwnServer, name: str) -> subprocess.CompletedProcess[str]:
    return tertulia("search", "language", name, "--json", env={"TERTULIA_POSTGRES_URL": server.postgres_url})


def begun(server: OwnServer, name: str) -> "subprocess.Popen[str]":
    """The same, while it goes on."""
    command = [sys.executable, "-m", "tertulia", "search", "language", name, "--json"]
    pipe = subprocess.PIPE
    env = os.environ | {"TERTULIA_POSTGRES_URL": server.postgres_url}
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env)


def language(connection: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute("select search_language()::text")
        [found] = cursor.fetchone()
    connection.rollback()
    return str(found)


def hits(speaker: Speaker, word: str) -> list[Json]:
    found: list[Json] = speaker.window(before=99, narrow=[["search", word]])["messages"]
    return found


def found(speaker: Speaker, word: str) -> set[int]:
    return {hit["id"] for hit in hits(speaker, word)}


def marked(speaker: Speaker, word: str) -> set[str]:
    """What is shown as a hit in the texts that are found."""
    texts = "".join(hit["match_content"] for hit in hits(speaker, word))
    return set(re.findall(r'<span class="highlight">(.*?)</span>', texts))


def test_messages_and_topics_follow_while_the_server_runs_and_those_that_are_held_are_not_forgotten(
    own_server: OwnServer,
) -> None:
    speaker = Speaker(own_server, own_server.owner)
    channel = next(iter(own_server.channels.values()))
    with closing(speaker.http), closing(psycopg2.connect(own_server.postgres_url)) as holding:
        free = speaker.send(channel, "Steine", "Die H\u00e4user am Fluss")
        held = speaker.send(channel, "Steine", "Drei H\u00e4user weiter")
        named = speaker.send(channel, "Alte B\u00e4ume", "Hier")
        assert found(speaker, "Haus") | found(speaker, "Baum") == set(), "English knows no such forms"
        assert marked(speaker, "H\u00e4user") == {"H\u00e4user"}
        with begun(own_server, "german") as changing:
            # Whoever writes already when the language changes is waited for. After that there is a second before it begins.
            eventually(lambda: language(holding) == "german", 60)
            holding.cursor().execute("select from message where id = %s for update", (held,))
            assert changing.stderr is not None
            assert changing.stderr.readline().startswith("topic: ")
            assert changing.stderr.readline().startswith("message: "), "nobody waits for those that are held"
            meanwhile = speaker.send(channel, "Steine", "Gro\u00dfe H\u00e4user")
            assert found(speaker, "Haus") >= {free, meanwhile}
            holding.rollback()
            said, more = changing.communicate(timeout=60)
        assert changing.returncode == 0, more
        told = json.loads(said)
        assert (told["language"], told["written"] >= 4) == ("german", True)
        assert found(speaker, "Haus") == {free, held, meanwhile}
        assert found(speaker, "Baum") == {named}
        assert marked(speaker, "Haus") == {"H\u00e4user"}, "the process that runs has kept words of the language before"

        again = json.loads(change(own_server, "german").stdout)
        assert again == {"language": "german", "written": 0}
        refused = said_once(change(own_server, "elvish"))
        assert "does not know the language 'elvish'. It knows " in refused
        assert "german" in refused
