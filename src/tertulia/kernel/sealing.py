"""Sealing: secrets that must be read back lie in the database encrypted, with a key that is not in the database.

What only has to be recognized (passwords, API keys, sessions, links) is hashed, and never comes here. Invariants:
- The first key seals, all open: a key is rotated by putting a new one in front and running `tertulia secrets reseal`.
- A sealed value names its key and is bound to its column: moved to another column it does not open.
- What was stored before there was a key is read as it is, until it is sealed.

Features get the sealer with the connection (`Reader.sealer`), and declare their columns (`Feature.sealed`), so that a
rotation finds them all; a test walks the schema for columns that nobody declared.
"""

import base64
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tertulia.kernel.settings import Settings, SettingsError

log = structlog.get_logger()

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
PREFIX: Final = "sealed1."


class CannotOpen(Exception):
    """A sealed value that no key of this server opens; the text says what to do."""


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column that holds sealed values."""

    table: str
    column: str
    row: str
    """What names a row: an integer that no other row has, in SQL."""
    is_text: bool = False

    @property
    def name(self) -> str:
        """What its values are bound to."""
        return f"{self.table}.{self.column}"


class Sealer:
    """The keys of this server."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._ciphers = {_id_of(key): AESGCM(key) for key in keys}
        self._first = _id_of(keys[0]) if keys else None

    @property
    def has_key(self) -> bool:
        """Whether anything is sealed at all."""
        return self._first is not None

    def seal(self, column: SealedColumn, secret: bytes) -> bytes:
        """As it is stored."""
        if self._first is None:
            return secret
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = nonce + self._ciphers[self._first].encrypt(nonce, secret, column.name.encode())
        return f"{PREFIX}{self._first}.".encode() + base64.urlsafe_b64encode(sealed)

    def open(self, column: SealedColumn, stored: bytes) -> bytes:
        """The secret itself."""
        if not stored.startswith(PREFIX.encode()):
            return stored
        try:
            key_id, sealed = stored[len(PREFIX) :].decode().split(".")
            raw = base64.urlsafe_b64decode(sealed)
            if len(raw) < NONCE_BYTES + TAG_BYTES:
                raise ValueError("too short")
        except ValueError as error:
            raise CannotOpen(f"A value of {column.name} is damaged.") from error
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise CannotOpen(f"A value of {column.name} is sealed with the key {key_id}: add it to the sealing keys.")
        try:
            return cipher.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], column.name.encode())
        except InvalidTag as error:
            raise CannotOpen(f"A value of {column.name} is damaged, or from another column.") from error

    def seal_text(self, column: SealedColumn, secret: str) -> str:
        """For a column of text."""
        return self.seal(column, secret.encode()).decode()

    def open_text(self, column: SealedColumn, stored: str) -> str:
        """From a column of text."""
        return self.open(column, stored.encode()).decode()

    def find_text(self, column: SealedColumn, stored: str) -> str:
        """From a column of text, for lists that must not fail as a whole: empty if it cannot be opened."""
        try:
            return self.open_text(column, stored)
        except CannotOpen as problem:
            log.error("a secret cannot be shown", problem=str(problem))
            return ""

    def resealed(self, column: SealedColumn, stored: str | bytes) -> str | bytes:
        """The same secret, sealed with the first key."""
        if isinstance(stored, str):
            return self.seal_text(column, self.open_text(column, stored))
        return self.seal(column, self.open(column, stored))

    @property
    def current_prefix(self) -> str:
        """How everything begins that the first key sealed."""
        return f"{PREFIX}{self._first}."


NO_KEYS = Sealer(())


def sealer_of(settings: Settings) -> Sealer:
    """The keys that the settings name: those of the value, then those of the file."""
    words = settings.sealing_keys.replace(",", " ").split()
    if settings.sealing_key_file:
        try:
            words += Path(settings.sealing_key_file).read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"cannot read sealing_key_file {settings.sealing_key_file}: {error}") from error
    return Sealer([_decode(word) for word in words])


def new_key() -> str:
    """A key as settings name it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def _decode(word: str) -> bytes:
    try:
        key = base64.b64decode(word, altchars=b"-_", validate=True)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SettingsError("a sealing key is 32 bytes in base64: `tertulia secrets new-key` makes one")
    return key


def _id_of(key: bytes) -> str:
    return hashlib.sha256(b"tertulia sealing key " + key).hexdigest()[:8]
