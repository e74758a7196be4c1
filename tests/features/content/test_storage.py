"""tertulia.content.storage: the same behaviour on a disk and in a bucket."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tertulia.content.storage import NotStored, Store, StoreUnavailable
from tertulia.content.storage.store import PART, PIECE
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tests.harness.bucket import Bucket, s3_service, settings_of
from tests.harness.talk import unique

LARGE = 2 * PART + 12345


@pytest.fixture(scope="module")
def bucket(shared_folder: Path) -> Iterator[Bucket]:
    with s3_service(shared_folder) as address:
        bucket = Bucket(address, "files")
        yield bucket
        bucket.http.close()


@pytest.fixture(params=["disk", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "disk":
        return Store(Settings(storage_folder=str(tmp_path / "files")))
    return Store(settings_of(request.getfixturevalue("bucket")))


async def test_what_is_put_is_got_whole_and_in_ranges(store: Store) -> None:
    key = _key()
    assert await store.put(key, b"0123456789", "text/plain") == 10
    assert await (await store.get(key)).read() == b"0123456789"
    part = await store.get(key, 2, 5)
    assert (part.size, part.start, part.end) == (10, 2, 5)
    assert await part.read() == b"234"
    beyond = await store.get(key, 8, 99)
    assert (beyond.end, await beyond.read()) == (10, b"89")
    assert await store.check()


async def test_a_large_object_passes_in_pieces(store: Store) -> None:
    key = _key()
    assert await store.put(key, _pieces(LARGE)) == LARGE
    found = await store.get(key)
    sizes = [len(chunk) async for chunk in found.chunks]
    assert sum(sizes) == LARGE
    assert max(sizes) <= PIECE


async def test_an_empty_object_is_an_object(store: Store) -> None:
    key = _key()
    assert await store.put(key, _pieces(0)) == 0
    assert await (await store.get(key)).read() == b""


@pytest.mark.parametrize("size", [10, LARGE])
async def test_an_upload_that_breaks_off_leaves_nothing(store: Store, size: int, tmp_path: Path) -> None:
    key = _key()
    with pytest.raises(Refusal, match="enough"):
        await store.put(key, _pieces(size, then=Refusal("enough")))
    with pytest.raises(NotStored):
        await store.get(key)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


async def test_deleting_is_for_many_and_forgives_what_is_not_there(store: Store) -> None:
    one, two = _key(), _key()
    await store.put(one, b"1")
    await store.put(two, b"2")
    await store.delete([one, _key(), two])
    await store.delete([])
    for key in (one, two):
        with pytest.raises(NotStored):
            await store.get(key)


async def test_many_at_once_do_not_disturb_each_other(store: Store) -> None:
    keys = [_key() for _ in range(12)]
    await asyncio.gather(*(store.put(key, _pieces(100, mark=key.encode()[-1:])) for key in keys))
    for key in keys:
        assert await (await store.get(key)).read() == key.encode()[-1:] * 100


@pytest.mark.parametrize("key", ["", "/etc/passwd", "a/../b", "a//b", ".hidden", "a/.b", "a\0b", "ä", "a b", "a\n"])
async def test_a_key_is_made_by_us(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match="not a key"):
        await store.put(key, b"x")
    with pytest.raises(ValueError, match="not a key"):
        await store.get(key)
    with pytest.raises(ValueError, match="not a key"):
        await store.delete([key])


async def test_a_bucket_knows_the_type_and_no_unfinished_upload_is_left(bucket: Bucket) -> None:
    store, key = Store(settings_of(bucket)), _key()
    await store.put(key, b"x", "image/png")
    assert bucket.header(key, "content-type") == "image/png"
    with pytest.raises(Refusal):
        await store.put(_key(), _pieces(LARGE, then=Refusal("enough")))
    assert bucket.unfinished() == 0


async def test_a_place_that_is_away_is_said_to_be_away(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable):
        await Store(Settings(storage_folder=str(tmp_path / "file" / "files"))).put("a", b"x")


async def _pieces(size: int, *, mark: bytes = b"x", then: Exception | None = None) -> AsyncIterator[bytes]:
    for start in range(0, size, 65536):
        yield mark * min(65536, size - start)
    if then is not None:
        raise then


def _key() -> str:
    return f"tests/{unique('object').replace(' ', '-')}"
