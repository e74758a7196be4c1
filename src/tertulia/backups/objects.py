"""Objects on their way into a place and back. They never change, so each is copied once, however many archives need it.

In the place an object has a name made of its key and of whom it is encrypted for, so that it says nothing of the key and other
recipients get a copy of their own; and the SHA-256 of what is stored: anybody can check it, and no list is needed to know it.
"""

import asyncio
import hashlib
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack
from typing import IO

import msgspec

from tertulia.backups.encryption import Key, Recipient, decrypt, encrypt
from tertulia.backups.errors import Damaged
from tertulia.backups.manifest import Entry
from tertulia.backups.place import OBJECTS, Place, Summed
from tertulia.backups.streams import PIECE
from tertulia.content.storage import NotStored, Store

AT_ONCE = 4
"""Objects on their way at the same time."""
IN_MEMORY = 8 << 20
"""What is larger passes by a temporary file."""
_NAME = re.compile(rf"{OBJECTS}/[0-9a-f]{{2}}/([0-9a-f]{{40}})-([0-9a-f]{{64}})")


class Copied(msgspec.Struct, frozen=True):
    """Where an object is now, and how many bytes had to be written."""

    stored: str
    written: int


async def stored_objects(place: Place) -> AsyncIterator[tuple[str, int]]:
    """All of them, whichever archive needs them, with the sizes as they are stored."""
    async for key, size in place.store.listed(OBJECTS):
        if _NAME.fullmatch(key):
            yield key, size


def number_of(key: str, recipients: Sequence[Recipient]) -> str:
    """What the name of an object begins with."""
    text = "\n".join([key, *sorted(map(str, recipients))])
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def number_in(stored: str) -> str:
    return stored.rpartition("/")[2][:40]


async def copy_object(key: str, files: Store, place: Place, recipients: Sequence[Recipient]) -> Copied:
    """Encrypt an object with its key, and store it under its name."""
    with ExitStack() as stack:
        plain, secret = (stack.enter_context(_spool()) for _ in range(2))
        plain.write(msgspec.json.encode(key) + b"\n")
        async for chunk in (await files.get(key)).chunks:
            plain.write(chunk)
        plain.seek(0)
        await asyncio.to_thread(encrypt, plain, secret, recipients)
        secret.seek(0)
        sha256 = (await asyncio.to_thread(hashlib.file_digest, secret, "sha256")).hexdigest()  # type: ignore[arg-type]
        number = number_of(key, recipients)
        stored = f"{OBJECTS}/{number[:2]}/{number}-{sha256}"
        secret.seek(0)
        return Copied(stored, await place.store.put(stored, _pieces(secret)))


async def check_stored(stored: str, place: Place) -> None:
    """Whether it is what its name says."""
    async for _ in _stored_pieces(stored, place):
        pass


async def bring_back(entry: Entry, place: Place, key: Key, files: Store | None) -> None:
    """Check an object, and put it into the store if one is given. The store has it whole or not at all."""
    with ExitStack() as stack:
        secret, plain = (stack.enter_context(_spool()) for _ in range(2))
        async for chunk in _stored_pieces(entry.stored, place):
            secret.write(chunk)
        secret.seek(0)
        await asyncio.to_thread(decrypt, secret, plain, key)
        size = plain.tell()
        plain.seek(0)
        head = msgspec.json.encode(entry.key) + b"\n"
        if plain.read(len(head)) != head or size - len(head) != entry.size:
            raise Damaged(f"The archive is damaged: {entry.stored} is not the object that it should be.")
        if files is not None:
            await files.put(entry.key, _pieces(plain))


async def in_tasks(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """The same work several times at once: each takes the next object when it has done one. The first failure is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work())
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None


async def _stored_pieces(stored: str, place: Place) -> AsyncIterator[bytes]:
    found = _NAME.fullmatch(stored)
    try:
        if found is None:
            raise Damaged(f"The archive is damaged: {stored!r} is no name of an object.")
        summed = Summed((await place.store.get(stored)).chunks)
        async for chunk in summed:
            yield chunk
    except NotStored as error:
        raise Damaged(f"The archive is damaged: {stored} is missing.") from error
    if summed.part.sha256 != found[2]:
        raise Damaged(f"The archive is damaged: {stored} is not what was written.")


def _spool() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := file.read(PIECE):
        yield chunk
