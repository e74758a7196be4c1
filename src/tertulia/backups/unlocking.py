"""An encrypted file that is read here and there, and more than once, without lying open on a disk.

age is read from the first byte to the last. So it is decrypted once, and what comes of it is locked again, block by block, with a
key that is in the memory of this process alone, in a file without a name. Whoever gets the disk has nothing; if the process ends,
so does the file.
"""

import io
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tertulia.backups.encryption import Identity, Key, decrypt
from tertulia.backups.errors import BackupFailed, Damaged

BLOCK = 64 * 1024
TAG = 16
MAGIC = b"age-encryption.org/"


@contextmanager
def unlocked(file: Path, identities: Sequence[Identity]) -> Iterator[IO[bytes]]:
    """The bytes of an encrypted file, to be read in any order. BackupFailed if no identity opens it, or it was changed or cut."""
    try:
        source = file.open("rb")
    except OSError as problem:
        raise BackupFailed(f"{file} cannot be read: {problem.strerror}.") from problem
    with source, TemporaryFile(dir=file.parent) as copy:
        if source.read(len(MAGIC)) != MAGIC:
            raise BackupFailed(
                f"{file} is not encrypted, so it is no moving archive. `tertulia import archive` reads exports."
            )
        source.seek(0)
        locked = _Locked(copy)
        try:
            decrypt(source, cast("IO[bytes]", locked), Key.of(identities, is_encrypted=True))
        except Damaged as problem:
            raise BackupFailed(f"{problem} It was changed or not copied whole.") from problem
        except OSError as problem:
            raise BackupFailed(f"There is no room beside {file} to open it: {problem.strerror}.") from problem
        locked.end()
        with io.BufferedReader(locked, BLOCK) as opened:
            yield cast("IO[bytes]", opened)


class _Locked(io.RawIOBase):
    """Blocks of one length, each encrypted with its number as nonce: the key is used for this file alone, and each block once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._cipher = AESGCM(secrets.token_bytes(32))
        self._left = bytearray()
        self._blocks = 0
        self._size = 0
        self._at = 0
        self._current: tuple[int, bytes] = (-1, b"")

    # Written from its beginning to its end

    def write(self, data: object, /) -> int:
        piece = memoryview(data)  # type: ignore[arg-type]
        self._left += piece
        whole = len(self._left) - len(self._left) % BLOCK
        for start in range(0, whole, BLOCK):
            self._lock(bytes(self._left[start : start + BLOCK]))
        del self._left[:whole]
        return len(piece)

    def end(self) -> None:
        """All is written."""
        if self._left:
            self._lock(bytes(self._left))
            self._left.clear()

    def _lock(self, block: bytes) -> None:
        self._file.write(self._cipher.encrypt(self._nonce(self._blocks), block, None))
        self._blocks += 1
        self._size += len(block)

    # Read in any order

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: object, /) -> int:
        number, inside = divmod(self._at, BLOCK)
        if self._at >= self._size:
            return 0
        if self._current[0] != number:
            self._file.seek(number * (BLOCK + TAG))
            self._current = (number, self._cipher.decrypt(self._nonce(number), self._file.read(BLOCK + TAG), None))
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self._current[1][inside : inside + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    @staticmethod
    def _nonce(number: int) -> bytes:
        return number.to_bytes(12, "big")
