"""The list of all users: made by PostgreSQL, cached in memory as long as the realm's `users_version` stays the same.

The cache cannot be stale: the version is read from the database for every request, and a text is cached with the version
that the same statement read. Readers who see the same addresses share a text. It lacks the address of a reader who hides
it from people of their own role: that one is put into their copy. Memory is bounded; the least recently used goes first.
"""

import asyncio
import hashlib
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Sequence

import msgspec

from tertulia import __version__
from tertulia.kernel.audit import done_for_many
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database, Reader
from tertulia.people.users import queries
from tertulia.people.users.model import UserView

GZIP_LEVEL = 3
SMALL = 1024
"""Texts shorter than this are not worth compressing."""

_HEAD = b'{"result":"success","msg":"","members":'
_FOOT = b"}\n"

Key = tuple[str, int, tuple[int, ...]]
"""The form of the list, the realm, and what its readers see."""


class CachedList(msgspec.Struct):
    """A cached text, with its version and its compressed form."""

    version: int
    texts: tuple[bytes, ...]
    gzip: bytes | None = None

    @property
    def size(self) -> int:
        return sum(map(len, self.texts)) + len(self.gzip or b"")


class Listed(msgspec.Struct, frozen=True):
    """An answer of GET /users."""

    etag: str
    body: bytes | None
    """None: the client has it already."""
    is_gzip: bool = False


class Directory:
    """Everybody in a realm, as each kind of reader sees them."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._cache: OrderedDict[Key, CachedList] = OrderedDict()
        self._bytes = 0
        self._locks: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._versions: Coalescer[int, int] = Coalescer(self._read_versions)

    async def members(self, view: UserView, *, profile: bool, gzip: bool, known: Sequence[str]) -> Listed:
        """The whole body of GET /users, unless the client knows it: `known` are the entity tags it has."""
        key = _key("profile" if profile else "plain", view)
        version = await self._versions.load(view.realm_id) or 0
        if any(_etag(key, version, view, is_gzip=is_gzip) in known for is_gzip in (False, True)):
            return Listed(_etag(key, version, view, is_gzip=gzip), None)
        async with self._locks[key]:
            cached = self._find(key, version) or await self._load_members(key, view, profile=profile)
            gzip = gzip and len(cached.texts[0]) >= SMALL
            body = await self._compressed(key, cached) if gzip and not view.own_email else cached.texts[0]
        if view.own_email:
            body = with_own_address(view, body)
            body = await asyncio.to_thread(compress, body) if gzip else body
        return Listed(_etag(key, cached.version, view, is_gzip=gzip), body, gzip)

    async def state(self, reader: Reader, view: UserView) -> tuple[bytes, bytes]:
        """The active and the deactivated users for POST /register, as of the reader's snapshot."""
        key = _key("state", view)
        version = await queries.users_version(reader, view.realm_id)
        async with self._locks[key]:
            cached = self._cache.get(key)
            if cached is None or cached.version != version:
                active, others, version = await queries.users_for_state(reader, view.shared)
                cached = CachedList(version, (active, others))
                self._put(key, cached)
        active, others = cached.texts
        return (with_own_address(view, active) if view.own_email else active), others

    async def _load_members(self, key: Key, view: UserView, *, profile: bool) -> CachedList:
        # Those who wait behind the lock do not wait for the connections that this reader may have.
        with done_for_many():
            async with self._database.reader() as reader:
                text, version = await queries.all_users(reader, view.shared, profile=profile)
        cached = CachedList(version, (_HEAD + text + _FOOT,))
        self._put(key, cached)
        return cached

    def _find(self, key: Key, version: int) -> CachedList | None:
        """A text that is at least as new as the version that was asked for."""
        cached = self._cache.get(key)
        if cached is None or cached.version < version:
            return None
        self._cache.move_to_end(key)
        return cached

    def _put(self, key: Key, cached: CachedList) -> None:
        old = self._cache.get(key)
        if old is not None:
            if old.version > cached.version:
                return  # an older snapshot's
            self._bytes -= old.size
        self._cache[key] = cached
        self._cache.move_to_end(key)
        self._bytes += cached.size
        while self._bytes > self._max_bytes:
            forgotten, oldest = self._cache.popitem(last=False)
            self._bytes -= oldest.size
            if not self._locks[forgotten].locked():
                del self._locks[forgotten]

    async def _compressed(self, key: Key, cached: CachedList) -> bytes:
        if cached.gzip is None:
            compressed = await asyncio.to_thread(compress, cached.texts[0])
            cached.gzip = compressed
            if self._cache.get(key) is cached:
                self._bytes += len(compressed)
        return cached.gzip

    async def _read_versions(self, realm_ids: Sequence[int]) -> dict[int, int]:
        async with self._database.reader() as reader:
            return await queries.users_versions(reader, realm_ids)


def compress(body: bytes) -> bytes:
    """gzip, with nothing in it that changes from one time to the next."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def members_of(body: bytes) -> bytes:
    """The list alone, of a whole body."""
    return body[len(_HEAD) : -len(_FOOT)]


def with_own_address(view: UserView, text: bytes) -> bytes:
    """The list with the reader's own address in it, which others like them do not see."""
    # Quotes inside a value are escaped: this can be nothing but the beginning of the reader's record.
    hidden = b'{"user_id":%d,"delivery_email":null,' % view.reader_id
    shown = b'{"user_id":%d,"delivery_email":%b,' % (view.reader_id, msgspec.json.encode(view.own_email))
    return text.replace(hidden, shown, 1)


def _key(form: str, view: UserView) -> Key:
    return form, view.realm_id, view.sees


def _etag(key: Key, version: int, view: UserView, *, is_gzip: bool) -> str:
    own = (view.reader_id, view.own_email) if view.own_email else None
    facts = msgspec.json.encode((key, view.domain, own, __version__))
    digest = hashlib.blake2b(facts, digest_size=9).hexdigest()
    return f'"{version:x}-{digest}{"-gzip" if is_gzip else ""}"'
