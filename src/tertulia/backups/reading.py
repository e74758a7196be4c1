"""What an archive says is in it: decrypted into a temporary file, and read line by line."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import IO

import msgspec

from tertulia.backups.encryption import Key, decrypt
from tertulia.backups.manifest import Contents, Entry, Manifest, Table
from tertulia.backups.objects import IN_MEMORY
from tertulia.backups.place import Place
from tertulia.backups.streams import read_by


class OpenContents:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        file.seek(0)
        self.tables: dict[str, Table] = msgspec.json.decode(file.readline(), type=Contents).tables
        self._begin = file.tell()

    def entries(self) -> Iterator[Entry]:
        self._file.seek(self._begin)
        decoder = msgspec.json.Decoder(Entry)
        while line := self._file.readline():
            yield decoder.decode(line)


@asynccontextmanager
async def open_contents(manifest: Manifest, place: Place, key: Key) -> AsyncIterator[OpenContents]:
    """Checked: its sum, and that one of the identities opens it."""
    await place.check_part(manifest, "contents")
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:

        def work(source: IO[bytes]) -> None:
            decrypt(source, file, key)

        await read_by(work, place.read_part(manifest, "contents"))
        yield await asyncio.to_thread(OpenContents, file)
