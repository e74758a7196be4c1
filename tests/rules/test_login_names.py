"""User names at login, without a server."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.limits import PASSWORD_MAX_LENGTH
from tertulia.people.logins.names import clean_username, failure_key_of, presentable_name
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.passwords import check_strength, hash_password, is_password


@given(st.text(max_size=40))
def test_spellings_that_an_account_is_found_under_share_a_key(text: str) -> None:
    for spelling in (text.upper(), f" {text}\t", text.lower()):
        if email_key_of(spelling) == email_key_of(text):
            assert failure_key_of(spelling) == failure_key_of(text)


@given(st.text(max_size=40))
@example("0\x1f0")
def test_what_a_directory_is_asked_for_shares_the_key_of_what_was_typed(text: str) -> None:
    try:
        asked = clean_username(text, has_directory=True)
    except Refusal:
        return
    assert failure_key_of(asked) == failure_key_of(text)
    assert unicodedata.normalize("NFKC", asked) == asked or "@" in asked


@pytest.mark.parametrize("spelling", ["ＫＯＦＩ", "ko\u00adfi", "K\u200bofi", "kofi\ufe0f", " kofi", "KoFi\u2060"])
def test_what_a_directory_skips_or_takes_for_the_same_makes_no_other_key(spelling: str) -> None:
    assert failure_key_of(spelling) == "kofi"


def test_without_a_directory_a_user_name_is_an_address() -> None:
    assert clean_username(" kofi@example.com ", has_directory=False) == "kofi@example.com"
    with pytest.raises(Refusal):
        clean_username("kofi", has_directory=False)


@pytest.mark.parametrize(
    ("given", "shown"),
    [("Kofi  Mensah", "Kofi Mensah"), ("*Kofi* `M`", "Kofi M"), ("Kofi|12", "Kofi12"), ("", None), ("**", None)],
)
def test_names_of_a_directory_are_made_presentable(given: str, shown: str | None) -> None:
    assert presentable_name(given) == shown
    assert presentable_name("x" * 300) == "x" * 100


@pytest.mark.parametrize(
    "weak", ["", "1234567", "12345678", "password1", "qwertyuiop", "Kofi Mensah", "kofi@example.com"]
)
async def test_a_weak_password_is_refused(weak: str) -> None:
    with pytest.raises(Refusal):
        await check_strength(weak, (), "kofi@example.com", "Kofi Mensah")


@pytest.mark.parametrize(
    "strong", ["violet anchors drift", "zq8v!kd2", "ñandú en la niebla", "x" * 50 + "violet anchors"]
)
async def test_a_strong_password_is_taken(strong: str) -> None:
    await check_strength(strong, (), "kofi@example.com", "Kofi Mensah")


async def test_a_password_longer_than_a_hundred_characters_is_refused() -> None:
    with pytest.raises(Refusal):
        await check_strength("violet anchors drift" * 6, ())


async def test_ds_10_no_more_of_a_password_is_hashed_than_one_can_have() -> None:
    """A log-in with a megabyte costs what any other does. Whether more is read shows with a hash that nobody could have set."""
    cheap = Settings(password_memory_mib=1)
    for length in (PASSWORD_MAX_LENGTH, PASSWORD_MAX_LENGTH + 50):
        stored = await hash_password("x" * length, cheap)
        assert await is_password(stored, "x" * length, cheap) == (length == PASSWORD_MAX_LENGTH)
        assert not await is_password(stored, "x" * (PASSWORD_MAX_LENGTH + 1), cheap)


def test_a_name_of_marks_without_end_is_refused_at_once() -> None:
    marks = "a" + "\N{COMBINING COMMA ABOVE RIGHT}" * 60_000 + "\N{COMBINING GRAVE ACCENT}" * 60_000
    began = time.thread_time()
    with pytest.raises(Refusal):
        clean_username(marks, has_directory=True)
    failure_key_of(marks)
    assert time.thread_time() - began < 1
