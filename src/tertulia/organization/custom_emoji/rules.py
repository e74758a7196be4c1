"""What a custom emoji can be called (pure)."""

import re

from tertulia.content.emoji import EXTRA_EMOJI, find_code
from tertulia.kernel.errors import Refusal

MAX_NAME_LENGTH = 100
_NAME = re.compile(r"[0-9a-z_-]+")


def clean_name(name: str) -> str:
    """A name as it is stored; refuses what cannot be one."""
    name = name.strip().replace(" ", "_")
    if not name:
        raise Refusal("An emoji needs a name.")
    if len(name) > MAX_NAME_LENGTH:
        raise Refusal(f"The emoji's name is too long (limit: {MAX_NAME_LENGTH} characters).")
    if not _NAME.fullmatch(name):
        raise Refusal("An emoji's name has lower-case letters, digits, spaces, dashes and underscores only.")
    if name[-1] in "_-":
        raise Refusal("An emoji's name ends with a letter or a digit.")
    return name


def is_taken_by_default(name: str) -> bool:
    """Whether an emoji of Unicode, or the service's own, has this name."""
    return name == EXTRA_EMOJI or find_code(name) is not None
