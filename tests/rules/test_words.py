"""What the server says is there in every language it speaks: the same things, with the same names and plural forms in it."""

import importlib
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import tertulia
from tertulia.kernel.languages import SPOKEN, Words, language_for, plural, plural_forms, spoken

ROOT = Path(tertulia.__file__).parent
AREAS = sorted(file.parent for file in ROOT.rglob("words/en.toml"))
FORMS = {"zero", "one", "two", "few", "many", "other"}


def names_in(said: Any) -> set[str]:
    return set(re.findall(r"\{\w*\}", str(said) if not isinstance(said, dict) else " ".join(said.values())))


def said_in(area: Path, language: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.toml.decode((area / f"{language}.toml").read_bytes())
    return found


def test_words_are_where_features_are() -> None:
    assert len(AREAS) > 15


@pytest.mark.parametrize("area", AREAS, ids=lambda area: str(area.parent.relative_to(ROOT)))
@pytest.mark.parametrize("language", SPOKEN)
def test_every_feature_speaks_every_language(area: Path, language: str) -> None:
    module = importlib.import_module(f"tertulia.{'.'.join(area.relative_to(ROOT).parts)}")
    words: Words = module.words_of(language)
    assert words.language == language
    english, told = said_in(area, "en"), said_in(area, language)
    assert list(told) == [name for name in english if name in told]  # in the same order, to be read side by side
    for name, said in english.items():
        if isinstance(said, dict) and set(said) <= FORMS and "other" in said and "one" in said:
            assert set(told[name]) == plural_forms(language), name
            assert names_in(told[name]) == names_in(said), name
        elif isinstance(said, dict):
            assert {key: names_in(text) for key, text in told[name].items()} == {
                key: names_in(text) for key, text in said.items()
            }, name
        elif isinstance(said, list):
            assert [names_in(text) for text in told[name]] == [names_in(text) for text in said], name
        else:
            assert names_in(told[name]) == names_in(said), name
            ends = [text[: len(text) - len(text.lstrip())] + text[len(text.rstrip()) :] for text in (said, told[name])]
            assert ends[0] == ends[1] or name.startswith("list_"), name


@pytest.mark.parametrize("area", AREAS, ids=lambda area: str(area.parent.relative_to(ROOT)))
@pytest.mark.parametrize("language", SPOKEN)
def test_people_and_places_in_messages_stand_apart(area: Path, language: str) -> None:
    """Behind a letter a mention or a link to a channel is read as plain text."""
    if any("worded(" in file.read_text() for file in area.parent.rglob("*.py")):
        glued = re.compile(r"[^\s'\"({/<]\{(?:who|sender|bot|owner|group|channels?|place)\}")
        assert glued.findall((area / f"{language}.toml").read_text()) == []
        told = said_in(area, language)
        assert [name for name in ("list_comma", "list_and") if not told.get(name, " ").endswith(" ")] == []


@pytest.mark.parametrize(
    ("chosen", "meant"),
    [
        ("en-gb", "en"),
        ("es-MX", "es"),
        ("pt-br", "pt"),
        ("pt-pt", "pt"),
        ("zh", "zh-hans"),
        ("zh-CN", "zh-hans"),
        ("zh_Hans_SG", "zh-hans"),
        ("zh-hant", None),
        ("zh-tw", None),
        ("fi", None),
        ("", None),
    ],
)
def test_a_kind_of_a_language_is_that_language(chosen: str, meant: str | None) -> None:
    assert spoken(chosen) == meant


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, "es"),
        ("", "es"),
        ("de", "de"),
        ("fi, de;q=0.5", "de"),
        ("en;q=0.1, pl;q=0.9", "pl"),
        ("fi", "es"),
        ("de;q=0", "es"),
        ("*", "es"),
        ("de;q=nan, fr", "de"),
    ],
)
def test_a_stranger_is_told_in_the_language_of_their_browser_or_of_the_organization(
    asked: str | None, expected: str
) -> None:
    assert language_for(asked, "es") == expected


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", {0: "other", 1: "one", 2: "other"}),
        ("fr", {0: "one", 1: "one", 2: "other"}),
        ("pt", {0: "one", 1: "one", 2: "other"}),
        ("ja", {0: "other", 1: "other"}),
        ("pl", {0: "many", 1: "one", 2: "few", 5: "many", 12: "many", 21: "many", 22: "few", 112: "many", 122: "few"}),
        (
            "ar",
            {0: "zero", 1: "one", 2: "two", 3: "few", 10: "few", 11: "many", 100: "other", 103: "few", 102: "other"},
        ),
    ],
)
def test_plural_forms_are_those_of_cldr(language: str, forms: dict[int, str]) -> None:
    assert {number: plural(language, number) for number in forms} == forms
