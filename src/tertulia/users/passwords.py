"""Passwords: argon2id, checked away from the event loop, at the same cost whether or not there is a user."""

import asyncio
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tertulia.kernel.errors import Refusal
from tertulia.realms.limits import PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH

_hasher = PasswordHasher()


def check_password_length(password: str) -> None:
    """Refuse new passwords that are too short to be safe, or too long to be meant."""
    if not PASSWORD_MIN_LENGTH <= len(password) <= PASSWORD_MAX_LENGTH:
        raise Refusal(f"A password has {PASSWORD_MIN_LENGTH} to {PASSWORD_MAX_LENGTH} characters.")


async def hash_password(password: str) -> str:
    """What is stored of a password."""
    return await asyncio.to_thread(_hasher.hash, password)


async def is_password(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one."""
    matches = await asyncio.to_thread(_verify, stored or _decoy(), password)
    return matches and stored is not None


@cache
def _decoy() -> str:
    """What an unknown user's attempt is checked against, so that it takes as long as a known one's.

    Made on first need: a hash takes a tenth of a second, which every start of a process would pay.
    """
    return _hasher.hash("nobody has this password")


def _verify(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
