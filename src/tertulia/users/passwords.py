"""Passwords: argon2id, checked away from the event loop, at the same cost whether or not there is a user."""

import asyncio
import re
import secrets
from base64 import b64encode

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tertulia.kernel.errors import Refusal
from tertulia.realms.limits import PASSWORD_MAX_LENGTH, PASSWORD_MIN_GUESSES, PASSWORD_MIN_LENGTH

_hasher = PasswordHasher()

MUST_RESET = "!"
"""Stored in place of a password that is no longer good: its owner has to choose another one."""
_ESTIMATED = 72
"""Estimating takes the cube of the length; a password that is weak so far is weak."""


def check_password_length(password: str) -> None:
    """Refuse new passwords that are too short to be safe, or too long to be meant."""
    if not PASSWORD_MIN_LENGTH <= len(password) <= PASSWORD_MAX_LENGTH:
        raise Refusal(f"A password has {PASSWORD_MIN_LENGTH} to {PASSWORD_MAX_LENGTH} characters.")


async def check_strength(password: str, *known: str) -> None:
    """Refuse new passwords that are soon guessed; `known` is what everybody knows about the person."""
    check_password_length(password)
    if await asyncio.to_thread(_guesses, password, known) < PASSWORD_MIN_GUESSES:
        raise Refusal("The password is too weak: it would soon be guessed.")


def _guesses(password: str, known: tuple[str, ...]) -> int:
    from zxcvbn import zxcvbn  # its word lists take a moment and some memory, which most processes never need

    words = [word for text in known for word in (text, *re.split(r"[\W_]+", text)) if word]
    return int(zxcvbn(password[:_ESTIMATED], user_inputs=words)["guesses"])


async def hash_password(password: str) -> str:
    """What is stored of a password."""
    return await asyncio.to_thread(_hasher.hash, password)


async def is_password(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one."""
    matches = await asyncio.to_thread(_verify, stored, password)
    return matches and stored is not None


def _make_decoy() -> str:
    """What an unknown user's attempt is checked against, so that it takes as long as a known one's.

    It looks like the hash of some password, but none was hashed: nobody has it, and nothing is paid at the start.
    """
    salt, digest = (b64encode(secrets.token_bytes(size)).decode().rstrip("=") for size in (16, 32))
    return f"$argon2id$v=19$m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}${salt}${digest}"


_decoy = _make_decoy()


def _verify(stored: str | None, password: str) -> bool:
    try:
        return _hasher.verify(stored or _decoy, password)
    except (VerificationError, InvalidHashError):
        return False
