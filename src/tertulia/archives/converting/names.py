"""Names that people could have chosen here, made of what they were elsewhere (pure)."""

import re

from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import name_key_of, without_bad_characters
from tertulia.people.users.rules import clean_full_name

MOST_PERSON, MOST_CHANNEL, MOST_TOPIC = 100, 60, 60
_FORBIDDEN = re.compile(r'[*`\\>"@]')
_ENDING = re.compile(r"\|(?=[0-9]+$)")


def plain(text: str) -> str:
    """In one line, with nothing unseen in it."""
    return " ".join(without_bad_characters(text.encode(errors="replace").decode()[:2000]).split())


def person_name(wanted: str, fallback: str) -> str:
    """A name that may be mentioned."""
    for text in (wanted, fallback):
        name = _ENDING.sub(" ", " ".join(_FORBIDDEN.sub(" ", plain(text)).split()))[:MOST_PERSON].strip()
        try:
            return clean_full_name(name)
        except Refusal:
            continue
    return "Somebody"


def shortened(text: str, most: int) -> str:
    """At most so many characters; one that is cut ends with an ellipsis, at a word's end if there is one near."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ", most // 2)
    return (cut[:space] if space > 0 else cut).rstrip(" ,.;:-") + "…"


class UniqueNames:
    """Names of things of one kind, no two the same but for case."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[str, int] = {}

    def take(self, wanted: str, fallback: str) -> str:
        """This name, or one that is like it and still free."""
        name = shortened(plain(wanted) or fallback, self._most)
        number = self._taken.get(name_key_of(name), 0)
        found = name
        while name_key_of(found) in self._taken:
            number += 1
            ending = f" ({number + 1})"
            found = shortened(name, self._most - len(ending)) + ending
        self._taken[name_key_of(name)] = number
        self._taken.setdefault(name_key_of(found), 0)
        return found
