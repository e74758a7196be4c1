"""What a caller is told when PostgreSQL cannot do what it is asked."""

import asyncpg
import pytest

from tertulia.kernel.db import OutcomeUnknown
from tertulia.kernel.engine_failures import as_refusal
from tertulia.server.app import translate

TRY_AGAIN = {
    "25006": "it is read-only",
    "25P03": "we stood still in a transaction",
    "40P01": "deadlock",
    "53000": "insufficient resources",
    "53100": "the disk is full",
    "53200": "no memory",
    "53300": "too many connections",
    "53400": "a limit of its configuration",
    "55P03": "a lock is not to be had",
    "57014": "the statement took too long",
    "57P01": "it is stopped",
    "57P02": "it crashed",
    "57P03": "it is starting",
    "08006": "the connection failed",
}
OUR_FAULT = {"22001": "too long a value", "23505": "unique", "42P01": "no such table", "XX000": "internal"}


def failure(code: str) -> Exception:
    error: Exception = asyncpg.PostgresError.new({"C": code, "M": "a failure"})
    return error


@pytest.mark.parametrize("code", TRY_AGAIN)
def test_what_passes_is_answered_with_try_again(code: str) -> None:
    refusal = translate(failure(code))
    assert refusal is not None, TRY_AGAIN[code]
    assert (refusal.status, refusal.code) == (503, "SERVER_NOT_READY")
    assert refusal.headers is not None
    assert int(refusal.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionResetError(), OutcomeUnknown("7")])
def test_a_connection_that_is_lost_or_silent_is_answered_with_try_again(error: Exception) -> None:
    refusal = as_refusal(error)
    assert refusal is not None
    assert refusal.status == 503


@pytest.mark.parametrize("code", OUR_FAULT)
def test_what_does_not_pass_is_a_failure_of_ours(code: str) -> None:
    assert translate(failure(code)) is None
