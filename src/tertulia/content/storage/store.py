"""Put, get, delete. Keys are made by us, never by a caller: letters, digits, `.`, `_`, `-`, in parts divided by `/`."""

import re
import secrets
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from obstore.exceptions import BaseError
from obstore.store import LocalStore, S3Store

from tertulia.content.storage.places import forget_unfinished, open_bucket, open_folder, settle
from tertulia.content.storage.scanning import Scanner
from tertulia.kernel.settings import Settings

PIECE = 2 * 1024 * 1024
"""Read at a time: so much memory a download takes, and no connection to the store waits for a slow reader."""
PART = 5 * 1024 * 1024
"""Written at a time: S3 takes no smaller parts of a larger object."""
CHECKS = "check/"
"""Where objects are that are written only to see whether that works."""

_key = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,199}){0,9}")
_FAILURES = (BaseError, OSError)


class NotStored(LookupError):
    """There is no such object."""


class StoreUnavailable(Exception):
    """The disk or the bucket does not do what is asked of it; the text says why."""


class Stored(NamedTuple):
    """An object, or the asked-for range of it. `size` is that of the whole object; `end` is after the last byte."""

    size: int
    start: int
    end: int
    chunks: AsyncIterator[bytes]

    async def read(self) -> bytes:
        """All of it at once: for what is known to be small."""
        return b"".join([chunk async for chunk in self.chunks])


@dataclass(frozen=True)
class Store:
    """Where files are kept. Opened when first used: a server whose disk is away still talks."""

    settings: Settings

    @cached_property
    def scanner(self) -> Scanner:
        """What comes from outside passes it on its way here."""
        return Scanner(self.settings)

    async def put(self, key: str, content: bytes | AsyncIterator[bytes], content_type: str = "") -> int:
        """Store an object, replacing none but an equal one; returns its size. If `content` raises, nothing is stored.

        `content_type` is for those who look into the bucket; a disk does not keep it.
        """
        head, rest = (content, None) if isinstance(content, bytes) else await _begin(content)
        body = head if rest is None else _Counted(head, rest)
        try:
            if isinstance(self._place, S3Store):
                kind = content_type.encode("ascii", "replace").decode() or "application/octet-stream"
                await self._place.put_async(
                    check_key(key), body, attributes={"Content-Type": kind}, chunk_size=PART, max_concurrency=2
                )
            else:
                await self._place.put_async(check_key(key), body, chunk_size=PART, max_concurrency=1)
                await settle(self.settings.storage_folder, key)
        except _FAILURES as error:
            raise StoreUnavailable(_reason(error)) from error
        return len(body) if isinstance(body, bytes) else body.size

    async def get(self, key: str, start: int = 0, end: int | None = None) -> Stored:
        """An object, or the bytes from `start` to before `end` of it (cut to what is there); NotStored."""
        try:
            size = int((await self._place.head_async(check_key(key)))["size"])
        except FileNotFoundError as error:
            raise NotStored(key) from error
        except _FAILURES as error:
            raise StoreUnavailable(_reason(error)) from error
        end = size if end is None else min(end, size)
        start = min(start, end)
        return Stored(size, start, end, self._pieces(key, start, end))

    async def delete(self, keys: Iterable[str]) -> None:
        """Forget these objects; those that are not there are no trouble."""
        wanted = [check_key(key) for key in keys]
        try:
            if wanted and isinstance(self._place, S3Store):
                await self._place.delete_async(wanted)
                return
            for key in wanted:
                try:
                    await self._place.delete_async(key)
                except FileNotFoundError:
                    pass
                await forget_unfinished(self.settings.storage_folder, key)
        except _FAILURES as error:
            raise StoreUnavailable(_reason(error)) from error

    async def listed(self, folder: str = "") -> AsyncIterator[tuple[str, int]]:
        """All objects, or those below a folder (a key's first parts), with their sizes. Not what `check` tries, and nothing that
        is still being written."""
        try:
            async for found in self._place.list(folder or None):
                for one in found:
                    if not one["path"].startswith(CHECKS):
                        yield one["path"], int(one["size"])
        except FileNotFoundError:
            return
        except _FAILURES as error:
            raise StoreUnavailable(_reason(error)) from error

    async def folders(self) -> list[str]:
        """The first parts of all keys that have several, sorted."""
        try:
            found = await self._place.list_with_delimiter_async()
        except _FAILURES as error:
            raise StoreUnavailable(_reason(error)) from error
        return sorted(name.strip("/") for name in found["common_prefixes"])

    async def has(self, key: str) -> bool:
        """Whether there is such an object."""
        try:
            await self.get(key)
        except NotStored:
            return False
        return True

    async def check(self) -> str:
        """Write, read and delete an object: where that works, everything does. Says where it was."""
        key = f"{CHECKS}{secrets.token_hex(8)}"
        await self.put(key, b"tertulia")
        found = await (await self.get(key)).read()
        await self.delete([key])
        if found != b"tertulia":
            raise StoreUnavailable("what was written is not what was read")
        if self.settings.s3_bucket:
            return f"bucket {self.settings.s3_bucket} at {self.settings.s3_endpoint or 'Amazon S3'}"
        return f"folder {self.settings.storage_folder}"

    async def _pieces(self, key: str, start: int, end: int) -> AsyncIterator[bytes]:
        while start < end:
            stop = min(start + PIECE, end)
            try:
                yield bytes(await self._place.get_range_async(key, start=start, end=stop))
            except FileNotFoundError as error:  # deleted meanwhile
                raise NotStored(key) from error
            except _FAILURES as error:
                raise StoreUnavailable(_reason(error)) from error
            start = stop

    @cached_property
    def _place(self) -> LocalStore | S3Store:
        try:
            return open_bucket(self.settings) if self.settings.s3_bucket else open_folder(self.settings)
        except (*_FAILURES, ValueError) as error:
            raise StoreUnavailable(_reason(error)) from error


def check_key(key: str) -> str:
    """A key of ours; anything else is a mistake in the program."""
    if not _key.fullmatch(key):
        raise ValueError(f"{key!r} is not a key")
    return key


class _Counted:
    """The pieces of an object on their way to the store."""

    def __init__(self, head: bytes, rest: AsyncIterator[bytes]) -> None:
        self.size = 0
        self._head = head
        self._rest = rest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.size = len(self._head)
        yield self._head
        async for chunk in self._rest:
            self.size += len(chunk)
            yield chunk


async def _begin(chunks: AsyncIterator[bytes]) -> tuple[bytes, AsyncIterator[bytes] | None]:
    """The first part, and the rest if there is one: most files are small, and need no upload in parts."""
    head = bytearray()
    async for chunk in chunks:
        head += chunk
        if len(head) >= PART:
            return bytes(head), chunks
    return bytes(head), None


def _reason(error: Exception) -> str:
    """The first line says it; the rest is for those who wrote obstore."""
    return str(error).partition("\n")[0] or type(error).__name__
