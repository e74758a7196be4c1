"""Passwords: argon2id, checked away from the event loop, at the same cost whether or not there is a user.

They have threads of their own: nothing that somebody asks for keeps others from logging in. Each hash takes 64 MiB while it is
made, unless the operator sets another cost, so the threads are few; if too many people wait for them, one more is told to try
again. How soon a new password would be guessed is estimated in a thread apart, one at a time, and what an estimate may cost has
a bound.
"""

import re
import secrets
from base64 import b64encode
from collections.abc import Container
from functools import cache

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.kernel.threads import Threads, processors
from tertulia.organization.realms.limits import PASSWORD_MAX_LENGTH, PASSWORD_MIN_GUESSES, PASSWORD_MIN_LENGTH

_RUNNING = max(2, min(processors(), 8))
_threads = Threads("passwords", running=_RUNNING, waiting=16 * _RUNNING)
_estimating = Threads("password estimates", running=1, waiting=32)
"""Unlike hashing, this is Python: more threads at once would only take turns, and take them from everything else. Also zxcvbn
keeps the words of an estimate in a global."""

MUST_RESET = "!"
"""Stored in place of a password that is no longer good: its owner has to choose another one."""
_MOST_PASSES, _MOST_LANES, _MOST_WORK_KIB = 16, 16, 2 * 1024 * 1024
"""What checking a hash of another server may cost. A hash says itself what it costs, up to years; ours take a tenth of this."""
_AROUND = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_LETTERS = str.maketrans("0134578@$!", "oieastbasi")
_STEM, _DRESS = 4, 6
_COST, _BASE_COST = 8_000, 8
"""What an estimate may cost: some hundredths of a second. Up to 29 characters without digits and signs, about 20 with them."""


def check_password_length(password: str) -> None:
    """Refuse new passwords that are too short to be safe, or too long to be meant."""
    if not PASSWORD_MIN_LENGTH <= len(password) <= PASSWORD_MAX_LENGTH:
        raise Refusal(f"A password has {PASSWORD_MIN_LENGTH} to {PASSWORD_MAX_LENGTH} characters.")


async def check_strength(password: str, words: tuple[str, ...], *known: str) -> None:
    """Refuse new passwords that are soon guessed. `words`: of the organization (password_words.py); `known`: what everybody
    knows about the person."""
    check_password_length(password)
    if await _estimating.run(_is_weak, password, (*words, *known)):
        raise Refusal("The password is too weak: it would soon be guessed.")


def _is_weak(password: str, known: tuple[str, ...]) -> bool:
    # Its word lists take a moment and some memory, which most processes never need.
    from zxcvbn.matching import RANKED_DICTIONARIES

    words = _words_in(known)
    if any(is_dressed_up(password, bad) for bad in (RANKED_DICTIONARIES["passwords"], {w.lower() for w in words})):
        return True
    # What everybody knows is no part of a secret: without it, the rest has to be one.
    return any(is_soon_guessed(text, words) for text in (password, *rests_of(password, words)))


def is_soon_guessed(text: str, words: list[str]) -> bool:
    """Whether it takes few guesses; of a text that would cost too much, whether both its beginning and its end do (pure).

    So few guesses has only what is one thing as a whole: a word, a date, a row of keys, a repetition. Then its ends are, too.
    """
    from zxcvbn import zxcvbn

    def guesses(part: str) -> int:
        return int(zxcvbn(part, user_inputs=words)["guesses"]) if part else 0

    beginning = beginning_of(text)
    if beginning == text:
        return guesses(text) < PASSWORD_MIN_GUESSES
    # A repetition is guessed with what it repeats. Of fewer repetitions zxcvbn may think more: '12121' six times is weak to it,
    # and five times is not.
    repeated = text[: _period(text)]
    if beginning_of(repeated) == repeated and guesses(repeated) * (len(text) / len(repeated)) < PASSWORD_MIN_GUESSES:
        return True
    return all(guesses(part) < PASSWORD_MIN_GUESSES for part in (beginning, beginning_of(text[::-1])[::-1]))


def beginning_of(text: str) -> str:
    """As much of a text as can be estimated at a bounded cost (pure).

    zxcvbn looks up every part of the text, once for each way to read its digits and signs as letters. The ways multiply: `1`, `|`
    and `!` are all an `i`, and `1` an `l` as well. A text that is cut has very many signs, or is very long.
    """
    from zxcvbn.matching import L33T_TABLE

    signs = {sign for letter in L33T_TABLE.values() for sign in letter}
    found, ways = "", 1
    for length, character in enumerate(text, 1):
        if character in signs and character not in found:
            found += character
            ways = _ways_to_read(found)
        if (ways + _BASE_COST) * length**2 > _COST:
            return _whole_repeats(text, length - 1)
    return text


def _ways_to_read(signs: str) -> int:
    from zxcvbn.matching import L33T_TABLE, enumerate_l33t_subs, relevant_l33t_subtable

    return len(enumerate_l33t_subs(relevant_l33t_subtable(signs, L33T_TABLE)))


def _whole_repeats(text: str, length: int) -> str:
    """The beginning of a text. `letmeinletmein...` is weak because it repeats itself, which half a word at the end would hide."""
    return text[: length - length % _period(text)] or text[:length]


def _period(text: str) -> int:
    """How long the part is that a text repeats; all of it, if it does not."""
    return next((size for size in range(1, len(text) + 1) if text.startswith(text[size:])), 0)


def _words_in(known: tuple[str, ...]) -> list[str]:
    """The texts, their parts, and their parts written together; no sign or letter alone."""
    parts = [re.split(r"[\W_]+", text) for text in known]
    words = [word for text, split in zip(known, parts, strict=True) for word in (text, "".join(split), *split)]
    return [word for word in dict.fromkeys(words) if len(word) > 1]


def rests_of(password: str, words: list[str]) -> list[str]:
    """What is left of a password without these words, also if letters were written as digits; only if it holds any (pure)."""
    long = sorted({word.lower() for word in words if len(word) >= _STEM}, key=len, reverse=True)
    if not long:
        return []
    pattern = re.compile("|".join(map(re.escape, long)))
    texts = dict.fromkeys((password.lower(), password.lower().translate(_LETTERS)))
    return [pattern.sub("", text) for text in texts if pattern.search(text)]


def is_dressed_up(password: str, leaked: Container[str]) -> bool:
    """Whether it is a leaked password with some digits and signs around it, and letters written as digits (pure).

    `Summer2024!` passes for strong in an estimate, and is among the first that somebody with a list tries.
    """
    for text in (password.lower(), password.lower().translate(_LETTERS)):
        stem = _AROUND.sub("", text)
        if len(stem) >= _STEM and len(text) - len(stem) <= _DRESS and stem in leaked:
            return True
    return False


async def hash_password(password: str, settings: Settings) -> str:
    """What is stored of a password."""
    return await _threads.run(_hasher(settings.password_memory_mib).hash, password)


def is_affordable(stored: str) -> bool:
    """Whether a hash that another server made can be checked by this one, as often as somebody tries (pure)."""
    try:
        cost = extract_parameters(stored)
    except InvalidHashError:
        return False
    work = cost.memory_cost * cost.time_cost
    return work <= _MOST_WORK_KIB and cost.time_cost <= _MOST_PASSES and cost.parallelism <= _MOST_LANES


def is_outdated(stored: str, settings: Settings) -> bool:
    """Whether a hash was made at another cost than new ones are: its password is hashed anew when somebody brings it."""
    return stored != MUST_RESET and _hasher(settings.password_memory_mib).check_needs_rehash(stored)


async def is_password(stored: str | None, password: str, settings: Settings) -> bool:
    """Whether the password is the stored one."""
    hasher = _hasher(settings.password_memory_mib)
    known = stored if stored is not None and _may_check(hasher, stored) else None
    matches = await _threads.run(_verify, hasher, known or _decoy(hasher), password)
    return matches and known is not None


def _may_check(hasher: PasswordHasher, stored: str) -> bool:
    """What is not too dear, and what was made at the cost of this server, however dear its operator wants it."""
    try:
        return is_affordable(stored) or not hasher.check_needs_rehash(stored)
    except InvalidHashError:
        return False


@cache
def _hasher(memory_mib: int) -> PasswordHasher:
    return PasswordHasher(memory_cost=memory_mib * 1024)


@cache
def _decoy(hasher: PasswordHasher) -> str:
    """What an unknown user's attempt is checked against, so that it takes as long as a known one's.

    It looks like the hash of some password, but none was hashed: nobody has it, and nothing is paid at the start.
    """
    salt, digest = (b64encode(secrets.token_bytes(size)).decode().rstrip("=") for size in (16, 32))
    return f"$argon2id$v=19$m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}${salt}${digest}"


def _verify(hasher: PasswordHasher, stored: str, password: str) -> bool:
    try:
        # One character more than any password has: it is wrong, and costs no more than a short one.
        return hasher.verify(stored, password[: PASSWORD_MAX_LENGTH + 1])
    except (VerificationError, InvalidHashError):
        return False
