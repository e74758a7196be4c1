"""An archive of a running server, made once, and empty databases to restore into."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg2
import pytest

from tertulia.backups.encryption import Identity, new_identity, read_identities, read_recipients
from tertulia.backups.making import make_backup
from tertulia.backups.manifest import Manifest
from tertulia.backups.place import Place, open_place
from tertulia.kernel.settings import Settings, load_settings
from tests.harness.files import upload
from tests.harness.server import OwnServer, Server
from tests.harness.talk import speaking, unique


class Source(NamedTuple):
    """The server whose archive it is, and the key that opens it."""

    settings: Settings
    public: str
    key_file: Path
    identities: list[Identity]

    def make(self, place: Path, *, is_encrypted: bool = True) -> Manifest:
        recipients = read_recipients([self.public] if is_encrypted else [])
        where = open_place(str(place), self.settings, must_exist=False)
        return asyncio.run(make_backup(self.settings, where, recipients, lambda _: None))

    def place(self, folder: Path) -> Place:
        return open_place(str(folder), self.settings, must_exist=True)


@pytest.fixture(scope="session")
def source(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Source:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    text, public = new_identity()
    file = tmp_path_factory.mktemp("key") / "key.txt"
    file.write_text(text)
    with speaking(server, server.owner) as owner:
        for number in range(3):
            owner.send(server.channels["general"], "files", upload(owner, f"{number}.txt", b"content %d" % number))
        owner.send(server.channels["general"], "files", upload(owner, "large.bin", bytes(9_000_000)))
    return Source(load_settings(env=server.environment()), public, file, read_identities(file))


@pytest.fixture(scope="session")
def archive(source: Source, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    """A place, and what is in it. Not to be changed: copy it."""
    place = tmp_path_factory.mktemp("place")
    return place, source.make(place)


@pytest.fixture
def empty_database(source: Source) -> Iterator[Callable[[], str]]:
    """Makes empty databases; returns their addresses."""
    connection = psycopg2.connect(source.settings.postgres_url)
    connection.autocommit = True
    made = []

    def make() -> str:
        made.append(unique("restored").replace(" ", "_"))
        connection.cursor().execute(f"create database {made[-1]}")
        return source.settings.postgres_url.rpartition("/")[0] + "/" + made[-1]

    yield make
    for name in made:
        connection.cursor().execute(f"drop database {name} with (force)")
    connection.close()
