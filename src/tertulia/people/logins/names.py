"""User names at login (pure): what may be one, and which of them count as the same when failures are counted.

Without a directory a user name is an email address. A directory compares names by rules of its own (RFC 4518: case,
width, composition and runs of blanks make no difference, some characters are skipped). The key that failures are counted
under must never be finer than that, or each spelling of a name would be worth new attempts.
"""

import stringprep
import unicodedata

from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import normalized, without_bad_characters
from tertulia.organization.realms.limits import MAX_FULL_NAME_LENGTH
from tertulia.people.users.rules import clean_full_name, is_email

MAX_LENGTH = 254
MAX_GIVEN = 4 * MAX_FULL_NAME_LENGTH
"""Of a name that a directory gives, this much is looked at."""
_SKIPPED = "\ufffc"


def clean_username(username: str, *, has_directory: bool) -> str:
    """A user name as it is looked up; refuses what cannot be one."""
    username = username.strip()
    if is_email(username):
        return username
    if not has_directory:
        raise Refusal("Enter a valid email address.")
    name = " ".join(normalized("NFKC", username).split())
    if not 1 <= len(name) <= MAX_LENGTH or any(_is_skipped(char) for char in name):
        raise Refusal("Enter a valid user name.")
    return name


def failure_key_of(username: str) -> str:
    """The name that failures are counted under."""
    folded = normalized("NFKC", username.strip().lower()).casefold()
    # Separators such as U+001F are control characters and white space at once: a space is what becomes of them.
    visible = "".join(char for char in normalized("NFKC", folded) if char.isspace() or not _is_skipped(char))
    return " ".join(visible.split())


def own_failure_key(user_id: int) -> str:
    """What failures of somebody who is logged in are counted under: the control character is in no user name's key."""
    return f"\x1f{user_id}"


def _is_skipped(char: str) -> bool:
    """Whether a directory may compare names as if the character were not there."""
    return char in _SKIPPED or stringprep.in_table_b1(char) or unicodedata.category(char)[0] == "C"


def presentable_name(text: str) -> str | None:
    """A name from a directory, without the characters that names here do not have; None if nothing is left."""
    kept = "".join(
        char for char in " ".join(without_bad_characters(text[:MAX_GIVEN]).split()) if char not in '*`\\>"@|'
    )
    try:
        return clean_full_name(kept[:MAX_FULL_NAME_LENGTH])
    except Refusal:
        return None
