"""Codes of an authenticator, by the examples of RFC 6238 (the last six of their eight digits)."""

import pytest

from tertulia.people.factors.rules import clean_code
from tertulia.people.factors.totp import code_at, secret_text, step_of, uri_of

SECRET = b"12345678901234567890"


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_a_code_is_that_of_the_standard(seconds: int, code: str) -> None:
    assert code_at(SECRET, seconds // 30) == code
    assert step_of(SECRET, code, seconds) == seconds // 30


def test_the_step_before_and_after_count_and_no_other() -> None:
    code = code_at(SECRET, 1000)
    assert [step_of(SECRET, code, step * 30) for step in (998, 999, 1000, 1001, 1002)] == [None, 1000, 1000, 1000, None]
    assert step_of(SECRET, "", 30000) is None
    assert step_of(SECRET, "é", 30000) is None


def test_authenticators_can_read_the_address() -> None:
    uri = uri_of(SECRET, "Tea & Co: north", "ana@example.com")
    assert uri == (
        "otpauth://totp/Tea%20%26%20Co%3A%20north:ana%40example.com"
        f"?secret={secret_text(SECRET)}&issuer=Tea%20%26%20Co%3A%20north&digits=6&period=30"
    )


def test_a_code_may_be_typed_with_blanks_and_in_small_letters() -> None:
    assert clean_code(" 123 456 ") == "123456"
    assert clean_code("abcd-efgh") == "ABCDEFGH"
