"""The entries of a tar, one after the other: their names and where their bytes are."""

import tarfile
from collections.abc import Iterator
from typing import IO, NamedTuple

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.container import BLOB_NAME, BLOCK, PART_NAME
from tertulia.archives.form.manifest import MOST_BYTES, NAME

MOST_ENTRIES = 2_000_000
MOST_PART_BYTES = 64 * 1024 * 1024
"""Of one part, which is held in memory. Ours have 8 MiB and one line more."""
MOST_PAX_BYTES = 1024
"""Of an extended header: ours says how large a large file is, and nothing else."""
_USUAL = (tarfile.REGTYPE, tarfile.AREGTYPE)
_ENCRYPTED = b"age-encryption.org/"
_COMPRESSED = {b"\x1f\x8b": "gzip -d", b"\x28\xb5": "zstd -d", b"BZ": "bzip2 -d", b"\xfd7": "xz -d", b"PK": "unzip"}


class Entry(NamedTuple):
    """A plain file in the archive."""

    name: str
    start: int
    size: int


def entries_of(file: IO[bytes], length: int) -> Iterator[Entry]:
    """All of them, in order. ArchiveFailed says what is wrong with the first that is not as it should be."""
    at, seen = 0, set[str]()
    large: int | None = None
    _check_kind(file)
    while True:
        file.seek(at)
        head = file.read(BLOCK)
        if head == bytes(BLOCK):
            return
        if len(head) < BLOCK:
            raise ArchiveFailed("The archive ends in the middle: it was not copied or written whole.")
        name, size, kind = _parsed(head, at)
        at += BLOCK
        if kind == tarfile.XHDTYPE and large is None:
            large = _large_size(file, size)
            at += size + -size % BLOCK
            continue
        size, large = size if large is None else large, None
        entry = Entry(_checked_name(name, kind), at, size)
        if name in seen:
            raise ArchiveFailed(f"{name} is in the archive twice: it is not as a program wrote it.")
        seen.add(name)
        if len(seen) > MOST_ENTRIES:
            raise ArchiveFailed(f"The archive has more than {MOST_ENTRIES:,} entries, which is the most that is read.")
        _check_size(entry, length)
        yield entry
        at += size + -size % BLOCK


def _check_kind(file: IO[bytes]) -> None:
    file.seek(0)
    start = file.read(len(_ENCRYPTED))
    if start == _ENCRYPTED:
        raise ArchiveFailed("The file is encrypted. If it is a moving archive, `tertulia move in` reads it.")
    start = start[:2]
    if start in _COMPRESSED:
        raise ArchiveFailed(
            f"The file is compressed: unpack it first (`{_COMPRESSED[start]}`), so that a plain tar remains."
        )


def _parsed(head: bytes, at: int) -> tuple[str, int, bytes]:
    try:
        about = tarfile.TarInfo.frombuf(head, "ascii", "strict")
    except (tarfile.HeaderError, UnicodeDecodeError) as error:
        if at == 0:
            raise ArchiveFailed("The file is no tar, so it is no archive of an organization.") from error
        raise ArchiveFailed(f"The tar is damaged at byte {at:,}: no entry begins there.") from error
    if about.size < 0:
        raise ArchiveFailed(f"The tar is damaged at byte {at:,}: an entry has a negative size.")
    return about.name, about.size, about.type


def _large_size(file: IO[bytes], size: int) -> int:
    """What an extended header says of the next entry. Nobody needs one but for what a usual header cannot say."""
    if size > MOST_PAX_BYTES:
        raise ArchiveFailed("The tar has a long extended header, which no archive needs.")
    text = file.read(size)
    length, _, record = text.partition(b" ")
    key, _, value = record.rstrip(b"\n").partition(b"=")
    if key != b"size" or not length.isdigit() or int(length) != len(text) or not value.isdigit() or len(value) > 16:
        raise ArchiveFailed("The tar has an extended header that says more than a size, which no archive needs.")
    return int(value)


def _checked_name(name: str, kind: bytes) -> str:
    if kind not in _USUAL:
        raise ArchiveFailed(
            f"{name!r} is a link, a folder, a device or a sparse file: an archive has plain files only."
        )
    if name != NAME and not PART_NAME.fullmatch(name) and not BLOB_NAME.fullmatch(name):
        raise ArchiveFailed(f"{name!r} is no name that an entry of an archive has (docs/reference/archive.md).")
    return name


def _check_size(entry: Entry, length: int) -> None:
    if entry.start + entry.size > length:
        raise ArchiveFailed(f"The archive ends in the middle of {entry.name}: it was not copied or written whole.")
    most = {True: MOST_BYTES, False: MOST_PART_BYTES}[entry.name == NAME]
    if not BLOB_NAME.fullmatch(entry.name) and entry.size > most:
        raise ArchiveFailed(f"{entry.name} has {entry.size:,} bytes, and {most:,} are the most that is read.")
