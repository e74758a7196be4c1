"""Names of emoji in the data set that most chats take theirs from, as ours (pure)."""

import re

from tertulia.content.emoji import find_code, find_name

_ELSEWHERE = {
    "cat": "1f431",
    "dog": "1f436",
    "cow": "1f42e",
    "pig": "1f437",
    "mouse": "1f42d",
    "rabbit": "1f430",
    "tiger": "1f42f",
    "horse": "1f434",
    "calendar": "1f4c6",
    "date": "1f4c5",
    "simple_smile": "1f642",
}
"""Those that stand for another picture there than here, or have no name here."""
_TONE = re.compile(r"(?:::?skin-tone-[2-6]:?|_tone[1-5]|_(?:light|medium_light|medium|medium_dark|dark)_skin_tone)$")


def code_of(name: str) -> str | None:
    """The code of an emoji by its name elsewhere. Skin tones have none here."""
    name = _TONE.sub("", name)
    return _ELSEWHERE.get(name) or find_code(name) or find_code(name.replace("-", "_"))


def name_of(name: str) -> str | None:
    """Our name of it."""
    code = code_of(name)
    return None if code is None else find_name(code)
