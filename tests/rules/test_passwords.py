"""Passwords that somebody with a list of leaked ones tries first."""

import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from tertulia.kernel.errors import Refusal
from tertulia.people.users.passwords import check_strength, is_dressed_up

LEAKED = frozenset(FREQUENCY_LISTS["passwords"])


@pytest.mark.parametrize(
    "password",
    [
        "Summer2024!",
        "P@ssw0rd2023",
        "letmein2024",
        "monkey12345",
        "Password123!",
        "!!dragon!!",
        "1Sunshine1",
        "$$Welcome1",
    ],
)
async def test_a_leaked_password_in_disguise_is_refused(password: str) -> None:
    assert is_dressed_up(password, LEAKED)
    with pytest.raises(Refusal, match="too weak"):
        await check_strength(password, ())


async def test_one_s_own_name_with_a_year_is_refused() -> None:
    with pytest.raises(Refusal, match="too weak"):
        await check_strength("Zebulonia2024!", (), "zebulonia@example.com", "Zebulonia Quirke")


@pytest.mark.parametrize(
    "password",
    [
        "Quillington2024!",
        "QuillingtonWorks1",
        "quillington-works",
        "Qu1ll1ngtonWorks!",
        "Tertulia2025",
        "TertuliaTalk1",
        "talk.quillington.example",
        "Bluefinch99!",
        "bluefinch-quillington",
    ],
)
async def test_words_of_the_organization_are_no_passwords(password: str) -> None:
    words = ("Tertulia", "talk.quillington.example", "bluefinch", "", "Quillington Works", "qw")
    with pytest.raises(Refusal, match="too weak"):
        await check_strength(password, words, "ada@elsewhere.example", "Ada")
    # Nothing but the words is against the passphrase.
    await check_strength("seven copper kettles sing", words, "ada@elsewhere.example", "Ada")


@pytest.mark.parametrize(
    "password",
    ["seven copper kettles sing", "a long password", "monkey739184620175", "Kx7!pQ2#vL", "12345678901928374655"],
)
def test_what_is_more_than_a_leaked_one_is_not_taken_for_it(password: str) -> None:
    assert not is_dressed_up(password, LEAKED)
