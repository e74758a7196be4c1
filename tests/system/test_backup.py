"""A whole server is backed up while people write, lost, and restored under the old NATS: clients come back by themselves."""

import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from tertulia.engines import Postgres, find_postgres
from tertulia.kernel.settings import load_settings
from tests.harness.command import tertulia
from tests.harness.files import fetch, upload
from tests.harness.server import OwnServer
from tests.harness.talk import Speaker, check_error, eventually, speaking

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]  # a whole server is started twice
OF_THE_MOMENT = {"queue_id", "last_event_id", "server_timestamp", "server_generation", "presences"}
"""Keys of the state that are of the registration, not of what is registered for."""


def state_of(speaker: Speaker) -> dict[str, Any]:
    """All of it, the newest messages included. The port is another one after a start."""
    state = speaker.post("register")
    speaker.delete("events", queue_id=state["queue_id"])
    kept = {key: value for key, value in state.items() if key not in OF_THE_MOMENT} | {"messages": messages_of(speaker)}
    port = f":{speaker.http.base_url.port}"
    found: dict[str, Any] = json.loads(json.dumps(kept).replace(port, ":PORT"))
    return found


def messages_of(speaker: Speaker) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = speaker.window("newest", before=5000)["messages"]
    return found


class Writer:
    """The owner sends numbered messages to the administrator, one after another, until told to stop."""

    def __init__(self, server: OwnServer) -> None:
        self.server = server
        self.answered = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        with speaking(self.server, self.server.owner) as owner:
            while not self._stop.is_set():
                owner.send([self.server.administrator.user_id], content=f"number {self.answered}")
                self.answered += 1

    @contextmanager
    def writing(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join()


def numbers(messages: list[dict[str, Any]]) -> list[int]:
    """Of the writer's messages that are there."""
    texts = [message["content"] for message in messages]
    return [int(found[1]) for text in texts if (found := re.fullmatch(r"<p>number (\d+)</p>", text))]


def test_a_server_that_was_lost_comes_back_as_it_was_and_clients_by_themselves(folder: Path) -> None:
    server = OwnServer.start(folder)
    key, place = folder / "key.txt", folder / "place"
    public = tertulia("backup", "new-key", str(key)).stdout.strip()
    channel = server.channels["general"]
    with speaking(server, server.owner) as owner, speaking(server, server.members[0]) as member:
        file = upload(owner, content=b"kept")
        owner.send(channel, "files", f"[notes]({file})")
        owner.send([member.id], content="in private")
        queue = member.register()
        # Nobody writes to them, so their state stands still.
        quiet_people = [server.moderator, *server.members, server.guest]
        writer = Writer(server)
        with writer.writing():
            eventually(lambda: writer.answered > 20)
            before = writer.answered
            made = tertulia(
                "backup",
                str(place),
                "-r",
                public,
                "--json",
                env={"TERTULIA_POSTGRES_URL": server.postgres_url, "TERTULIA_STORAGE_FOLDER": str(server.files)},
            )
            assert made.returncode == 0, made.stderr
            after = writer.answered
            eventually(lambda: writer.answered > after + 5)
        old = messages_of(owner)
    assert json.loads(made.stdout)["objects"] >= 1
    quiet = {}
    for user in quiet_people:
        with speaking(server, user) as speaker:
            quiet[user.email] = state_of(speaker)
    server.stop()

    with Postgres(find_postgres(load_settings()), folder / "data" / "postgres") as postgres:
        lose_everything(postgres, folder)
        env = {"TERTULIA_POSTGRES_URL": postgres.url, "TERTULIA_STORAGE_FOLDER": str(server.files)}
        done = tertulia("restore", f"{place}/latest", "-i", str(key), env=env)
        assert done.returncode == 0, done.stderr

    back = OwnServer.start(folder)
    try:
        for user in quiet_people:
            with speaking(back, user) as speaker:
                found, wanted = state_of(speaker), quiet[user.email]
                assert {key: value for key, value in found.items() if value != wanted.get(key)} == {}
                assert found.keys() == wanted.keys()
        with speaking(back, back.owner) as owner, speaking(back, back.members[0]) as member:
            numbered = numbers(messages_of(owner))
            assert numbered == list(range(len(numbered))), "a message is there, and one before it is not"
            assert before <= len(numbered) <= after + 1
            kept = [message for message in old if message["id"] <= messages_of(owner)[-1]["id"]]
            assert messages_of(owner) == kept
            assert fetch(owner, file).content == b"kept"
            check_error(
                member.request("GET", "events", queue_id=queue.id, last_event_id=queue.last),
                "BAD_EVENT_QUEUE_ID",
                queue_id=queue.id,
            )
            with member.register() as again:
                sent = owner.send(channel, "again", "hello")
                assert again.message_event(sent)["message"]["content"] == "hello"
    finally:
        assert back.stop() == 0


def lose_everything(postgres: Postgres, folder: Path) -> None:
    """The database and the files; NATS stays as it was."""
    shutil.rmtree(folder / "data" / "files")
    connection = psycopg2.connect(postgres.url_of("postgres"))
    connection.autocommit = True
    connection.cursor().execute("drop database tertulia")
    connection.cursor().execute("create database tertulia")
    connection.close()
