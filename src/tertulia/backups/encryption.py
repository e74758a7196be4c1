"""age, by pyrage. Archives are encrypted for public keys; the identity that opens them is kept elsewhere.

What is written can also be read with the program `age`: `age -d -i key.txt database | pg_restore ...`.
"""

import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import pyrage

from tertulia.backups.errors import BackupFailed, Damaged

# The library brings no types.
Recipient: TypeAlias = Any
Identity: TypeAlias = Any
_SECRET = "AGE-SECRET-KEY-"  # noqa: S105 -- how such keys begin


def new_identity() -> tuple[str, str]:
    """The text of an identity file, as `age-keygen` writes it, and the public key."""
    identity = pyrage.x25519.Identity.generate()
    public = str(identity.to_public())
    return f"# created: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n# public key: {public}\n{identity}\n", public


def read_recipients(texts: Iterable[str]) -> list[Recipient]:
    """Public keys; each text may have several with commas between them."""
    keys = [key.strip() for text in texts for key in text.split(",") if key.strip()]
    if any(key.upper().startswith(_SECRET) for key in keys):
        raise BackupFailed("That is the secret key, which opens backups. Give the public one: it begins with age1.")
    try:
        return [pyrage.x25519.Recipient.from_str(key) for key in dict.fromkeys(keys)]
    except pyrage.RecipientError as error:
        raise BackupFailed(f"A recipient must be a public key such as age1…: {error}.") from error


def read_identities(file: Path | None) -> list[Identity]:
    """The secret keys in an identity file; none if there is no file."""
    if file is None:
        return []
    try:
        lines = [line.strip() for line in file.read_text().splitlines()]
        identities = [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except (OSError, UnicodeDecodeError, pyrage.IdentityError) as error:
        raise BackupFailed(f"{file} cannot be read as an identity file: {error}.") from error
    if not identities:
        raise BackupFailed(f"{file} has no line that begins with {_SECRET}.")
    return identities


def encrypt(source: IO[bytes], target: IO[bytes], recipients: Sequence[Recipient]) -> None:
    """Copy, encrypted; without recipients as it is."""
    if recipients:
        pyrage.encrypt_io(source, target, recipients)
    else:
        shutil.copyfileobj(source, target, 1 << 20)


class Key(NamedTuple):
    """What opens an archive: the identities that somebody has, if it is encrypted at all."""

    identities: Sequence[Identity]
    is_encrypted: bool

    @classmethod
    def of(cls, identities: Sequence[Identity], *, is_encrypted: bool) -> "Key":
        """Whoever names an identity expects that only somebody with its public key wrote the archive in this form: an open one
        may have been put in its place."""
        if identities and not is_encrypted:
            raise BackupFailed(
                "The archive is not encrypted, though you name an identity. If that is meant so, leave it out."
            )
        return cls(identities, is_encrypted)


def decrypt(source: IO[bytes], target: IO[bytes], key: Key) -> None:
    """The way back. BackupFailed if no identity opens it, Damaged if something was changed or cut off."""
    if not key.is_encrypted:
        shutil.copyfileobj(source, target, 1 << 20)
        return
    if not key.identities:
        raise BackupFailed("The archive is encrypted: name the file with its secret key, --identity FILE.")
    try:
        pyrage.decrypt_io(source, target, key.identities)
    except pyrage.DecryptError as error:
        raise BackupFailed(
            f"The archive cannot be opened with this identity ({error}). It needs the secret key of one of its recipients."
        ) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno is not None:  # of a disk, not of the library
            raise
        raise Damaged(f"The archive is damaged: {error}.") from error


@contextmanager
def encrypted(target: IO[bytes], recipients: Sequence[Recipient]) -> Iterator[IO[bytes]]:
    """A file whose bytes arrive at the target encrypted, piece by piece: nothing lies open anywhere in between."""
    readable, writable = os.pipe()
    failures: list[Exception] = []

    def run() -> None:
        try:
            with os.fdopen(readable, "rb") as source:
                encrypt(source, target, recipients)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with os.fdopen(writable, "wb", buffering=0) as source:
            yield source
    except BaseException as error:
        thread.join()
        # Whoever writes only sees that nobody reads any more.
        if failures:
            raise _not_written(failures[0]) from error
        raise
    thread.join()
    if failures:
        raise _not_written(failures[0])


def _not_written(failure: Exception) -> BackupFailed:
    return BackupFailed(f"The archive cannot be written: {getattr(failure, 'strerror', None) or failure}.")
