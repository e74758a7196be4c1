"""Which characters names have: nothing unseen, nothing that turns letters around; and every language goes on working."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.content.emoji import code_to_names
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character, look_of, without_bad_characters
from tertulia.people.users.rules import clean_full_name

GOOD = [
    "Zoë Müller-Őrsi",
    "علی‌رضا",  # Persian, with a non-joiner between two words of one name
    "می‌خواهم",
    "क्‍ष श्री",  # Devanagari, joined by a joiner
    "ശ്രീലങ്ക ന്‍",  # Malayalam, a joiner at the end of a word
    "ශ්‍රී ලංකා",  # Sinhala
    "বাংলা র‍্যাব",
    "ខ្មែរ",
    "עברית שלום",
    "日本語 葛\U000e0100城",  # with a variant of a letter
    "한국어",
    "👩‍👩‍👧‍👦 family",
    "🏳️‍🌈 flag",
    "👩🏽‍💻 code",
    "❤️‍🔥",
    "🙂‍↔️",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "1️⃣ first",
    "tea ☕️",
]
BAD = {
    "turned around": "gpj.\u202eexe",
    "embedded": "\u202aabc\u202c",
    "isolated": "a\u2066b\u2069",
    "mark of direction": "Anna\u200e",
    "zero width space": "An\u200bna",
    "joiner between Latin letters": "An\u200dna",
    "non-joiner between Latin letters": "An\u200cna",
    "joiner at the beginning": "\u200dAnna",
    "two joiners": "क्\u200d\u200dष",
    "no-break space without width": "An\ufeffna",
    "word joiner": "An\u2060na",
    "soft hyphen": "An\u00adna",
    "filler": "\u3164",
    "blank of Braille": "\u2800",
    "tags": "Anna\U000e0041",
    "a selector of nothing": "\ufe0fAnna",
    "two selectors": "☕\ufe0f\ufe0f",
    "control": "a\u0007",
    "surrogate": "a\ud800",
    "line": "a\u2028b",
    "a letter that is not known yet": "a\u1c8f",
}


@pytest.mark.parametrize("name", GOOD)
def test_every_language_and_emoji_goes_on_working(name: str) -> None:
    assert bad_character(name) is None
    assert without_bad_characters(name) == name
    assert clean_full_name(name) == name


@pytest.mark.parametrize("kind", BAD)
def test_what_deceives_is_refused(kind: str) -> None:
    assert bad_character(BAD[kind]) is not None
    assert bad_character(without_bad_characters(BAD[kind])) is None
    with pytest.raises(Refusal):
        clean_full_name(BAD[kind])


def test_pictures_and_ideographs_of_a_later_unicode_may_stand_in_a_name() -> None:
    assert bad_character("\U0001fadf \U0003347a") is None


def test_every_emoji_may_stand_in_a_name() -> None:
    for code in dict(code_to_names()):
        text = "".join(chr(int(part, 16)) for part in code.split("-"))
        assert bad_character(text) is None, code


@given(st.text(max_size=80))
def test_the_place_of_a_bad_character_is_in_the_text(text: str) -> None:
    position = bad_character(text)
    assert position is None or 1 <= position <= len(text)
    assert bad_character(without_bad_characters(text)) is None


@pytest.mark.parametrize(
    "name",
    [
        "Notification Bot",
        "notification  bot",
        "NotificationBot",
        "Notification-Bot!",
        "Notificat1on B0t",
        "Nоtifiсаtiоn Bоt",  # with letters of the Cyrillic alphabet
        "Νotification Βot",  # with Greek ones
        "𝐍𝐨𝐭𝐢𝐟𝐢𝐜𝐚𝐭𝐢𝐨𝐧 𝐁𝐨𝐭",
        "Ｎｏｔｉｆｉｃａｔｉｏｎ Ｂｏｔ",
        "Nötificatión Bot",
        "Notlflcatlon Bot",
    ],
)
def test_nobody_looks_like_the_bot_of_the_server(name: str) -> None:
    assert look_of(name) == look_of("Notification Bot")
    with pytest.raises(Refusal):
        clean_full_name(name)


@pytest.mark.parametrize("name", ["Notifications", "Bot", "Anna Notification", "Notification Robot", "Nora Botticelli"])
def test_other_names_are_free(name: str) -> None:
    assert clean_full_name(name) == name


def test_a_name_without_end_is_looked_through_at_once() -> None:
    began = time.thread_time()
    assert bad_character("a\ufe0f" * 100_000) is None
    assert without_bad_characters("a\u200d" * 50_000) == "a " * 50_000
    assert time.thread_time() - began < 2


@given(st.text("ab \u200d\u200c\ufe0f\u2764\u0645\U0001f3f4\U000e0067\U000e007f", max_size=12))
def test_what_is_left_of_a_text_without_bad_characters_has_none_and_is_as_long(text: str) -> None:
    left = without_bad_characters(text)
    assert bad_character(left) is None
    assert len(left) == len(text)
    assert all(new in (old, " ") for new, old in zip(left, text, strict=True))
