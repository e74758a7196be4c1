"""Words for filled data: enough variety to look and compress like talk, made quickly."""

import random

_WORDS = (  # noqa: SIM905 -- a list of quoted words would fill a page
    "the a we you they it that this not all some about after again and before but can could did do for from good have "
    "how if in just know later like look make maybe more need new next no now of on once one only or out over part "
    "plan question ready really same see send should so soon start still take test than then there think time to "
    "today tomorrow try under until up us use very want was well what when where which who why will with work would "
    "yes yesterday yet build release review ticket customer server table report meeting coffee budget draft"
).split()
_FIRST = "Ada Bruno Chidi Dana Elif Farid Greta Hana Ivo Jaya Kim Lars Mina Noor Otto Pia Qing Rosa Sami Tove".split()  # noqa: SIM905
_LAST = "Abe Berg Costa Diaz Evans Fischer Garcia Haddad Ito Jansen Khan Lopez Moreau Nowak Okafor Petrov Rossi".split()  # noqa: SIM905

_SENTENCES: list[str] = []


def person_name(source: random.Random) -> str:
    return f"{_FIRST[int(source.random() * len(_FIRST))]} {_LAST[int(source.random() * len(_LAST))]}"


def topic_name(source: random.Random, number: int) -> str:
    """Unique by its number."""
    return f"{_WORDS[int(source.random() * len(_WORDS))]} {_WORDS[int(source.random() * len(_WORDS))]} {number + 1}"


def paragraph(source: random.Random) -> str:
    """One to four sentences. They come from a stock: choosing each word anew would take longer than storing them."""
    if not _SENTENCES:
        _SENTENCES.extend(_sentence(source) for _ in range(5_000))
    count = 1 + int(source.random() ** 2 * 4)
    return " ".join(_SENTENCES[int(source.random() * len(_SENTENCES))] for _ in range(count))


def _sentence(source: random.Random) -> str:
    words = [_WORDS[int(source.random() * len(_WORDS))] for _ in range(4 + int(source.random() * 12))]
    return " ".join(words).capitalize() + "."
