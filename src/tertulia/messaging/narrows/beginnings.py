"""Words that somebody only began (pure): `deplo` finds `deployment`.

The index holds stems, so that a beginning is looked for in two ways: as the beginning of a stem, and, where a stem is shorter
than what was typed, as the stem of the word that it may become. `deploym` begins no stem, but `deployment` is known by `deploy`.
Numbers are never begun: who looks for 123 does not mean 1234. Nor is what is quoted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

SHORTEST: Final = 3
"""Letters of a beginning. Of two, a large part of all words would be read (docs/decisions/0181)."""
LONGEST: Final = 50
"""Nobody begins a longer word; PostgreSQL takes none of thousands of letters."""
MOST: Final = 4
"""Words of one search that may be begun, the last ones: each reads all stems with its beginning."""
SHORTEST_STEM: Final = 4
"""Of a stem that is shorter than what was typed: shorter ones are too often those of other words (`commi`: com)."""
# Endings that an English stemmer takes off and that are long enough to be typed in part; of other languages' words a stemmer
# makes something else than a part of what was typed, and nothing comes of it.
ENDINGS: Final = (
    *("ing", "ment", "ation", "ness", "able", "ability", "ibility", "ively", "fully", "ously", "ional"),
    *("izing", "ization", "ance", "ence"),
)
TAILS: Final = tuple(sorted({ending[start:] for ending in ENDINGS for start in range(1, len(ending))}))


class Beginning(msgspec.Struct, frozen=True):
    """A word that may be only begun."""

    typed: str
    letters: str
    """The same in small letters, without what is around them."""
    stems: tuple[str, ...] = ()
    """Stems, shorter than that, of words it may become."""

    @property
    def alternatives(self) -> str:
        """What it is besides the word as typed, for a query of PostgreSQL; letters and digits need no escaping."""
        return f" | '{self.letters}':*" + "".join(f" | '{stem}'" for stem in self.stems)

    def begins(self, stem: str) -> bool:
        """Whether a word with this stem is found."""
        return stem.startswith(self.letters) or stem in self.stems


def beginnings_of(words: Sequence[str]) -> tuple[Beginning, ...]:
    """Those of the words that may be only begun."""
    return tuple(_beginnings(words))[-MOST:]


def _beginnings(words: Sequence[str]) -> Iterator[Beginning]:
    for word in words:
        letters = _bare(word).lower()
        if SHORTEST <= len(letters) <= LONGEST and letters.isalnum() and not letters.isnumeric():
            yield Beginning(word, letters)


def _bare(word: str) -> str:
    letters = [at for at, character in enumerate(word) if character.isalnum()]
    return word[letters[0] : letters[-1] + 1] if letters else ""


def become(beginning: Beginning) -> list[str]:
    """Words that this one may become, whose stems may be shorter than it is."""
    return [beginning.letters + tail for tail in TAILS] if len(beginning.letters) > SHORTEST_STEM else []


def with_stems(beginning: Beginning, stems: Mapping[str, Collection[str]]) -> Beginning:
    """The same, with the stems of what it may become."""
    shorter = {stem for word in become(beginning) for stem in stems.get(word, ()) if _is_part(stem, beginning.letters)}
    return msgspec.structs.replace(beginning, stems=tuple(sorted(shorter)))


def _is_part(stem: str, letters: str) -> bool:
    return SHORTEST_STEM <= len(stem) < len(letters) and letters.startswith(stem)
