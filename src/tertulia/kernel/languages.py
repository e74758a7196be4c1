"""In which language somebody is told something: the words of mails, pages, pushes and of what the notification bot says.

A feature that says something has a package `words`: a `Words` struct that names what is said, and beside it one file per
language (`en.toml`, `de.toml`, ...). A file is read when its language is first needed, and must fit the struct. What API
calls answer is English: programs read it.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Literal, TypeVar

import msgspec

SPOKEN = ("ar", "de", "en", "es", "fr", "it", "ja", "pl", "pt", "zh-hans")
"""The languages that the server and the web client speak."""
_RIGHT_TO_LEFT = frozenset({"ar"})
_CHINESE = {"zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans"}
MAX_ASKED = 20
"""Of so many languages that a browser asks for the first ones are looked at."""

Form = Literal["zero", "one", "two", "few", "many", "other"]
Counted = dict[Form, str]
"""What is said with a number in it, by the plural forms that whole numbers have in the language."""


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a feature says in one language."""

    language: str

    @property
    def direction(self) -> str:
        """Where its lines begin, as HTML says it."""
        return direction_of(self.language)

    def count(self, forms: Counted, number: int, **names: object) -> str:
        """What is said of so many."""
        return self.form(forms, number).format(number=number, **names)

    def form(self, forms: Counted, number: int) -> str:
        """The form for so many, with its names still in it."""
        return forms.get(plural(self.language, number), forms["other"])


Spoken = TypeVar("Spoken", bound=Words)


def reader_of(package: str, form: type[Spoken]) -> Callable[[str], Spoken]:
    """What looks up the words of a feature by the language that somebody has chosen."""

    @cache
    def read(language: str) -> Spoken:
        file = files(package).joinpath(f"{language}.toml")
        if not file.is_file():
            return read("en")
        return msgspec.convert({**msgspec.toml.decode(file.read_bytes()), "language": language}, form)

    return lambda language: read(spoken(language) or "en")


def spoken(language: str) -> str | None:
    """The language of ours that is meant, or that this one is a kind of (`es-mx`, `pt-br`)."""
    language = language.strip().lower().replace("_", "-")
    language = _CHINESE.get(language, language)
    if language.startswith("zh-hans"):
        return "zh-hans"
    return next((known for known in (language, language.partition("-")[0]) if known in SPOKEN), None)


def language_for(accepted: str | None, default: str) -> str:
    """The language for somebody of whom nothing is known but what their browser asks for (the header Accept-Language)."""
    return asked_language(accepted) or default


def asked_language(accepted: str | None) -> str | None:
    """The language of ours that a browser asks for first."""
    asked = []
    for entry in (accepted or "").split(",")[:MAX_ASKED]:
        name, _, weight = entry.partition(";")
        found = re.fullmatch(r"\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*", weight)
        asked.append((-(float(found[1]) if found else 1.0), spoken(name)))
    return next((known for weight, known in sorted(asked, key=lambda one: one[0]) if known and weight), None)


def direction_of(language: str) -> str:
    """Where lines begin in a language, as HTML says it."""
    return "rtl" if language in _RIGHT_TO_LEFT else "ltr"


def plural(language: str, number: int) -> Form:
    """The plural form of a whole number (Unicode CLDR). Spanish, French, Italian and Portuguese say millions as `other`."""
    match language:
        case "ja" | "zh-hans":
            return "other"
        case "fr" | "pt":
            return "one" if number in (0, 1) else "other"
        case "pl":
            return _polish(number)
        case "ar":
            return _arabic(number)
        case _:
            return "one" if number == 1 else "other"


def plural_forms(language: str) -> set[Form]:
    """Those that whole numbers have in a language; `other` stands in for whatever is missing."""
    return {plural(language, number) for number in range(200)} | {"other"}


def _polish(number: int) -> Form:
    if number == 1:
        return "one"
    is_few = 2 <= number % 10 <= 4 and not 12 <= number % 100 <= 14
    return "few" if is_few else "many"


def _arabic(number: int) -> Form:
    if number <= 2:
        exact: tuple[Form, ...] = ("zero", "one", "two")
        return exact[number]
    rest = number % 100
    if 3 <= rest <= 10:
        return "few"
    return "many" if rest >= 11 else "other"
