"""What a log holds of a failure: where it was, and nothing of whom it concerned (docs/reference/advisories.md, EX-08)."""

import json

import asyncpg
import pytest
import structlog

from tertulia.kernel.log import configure_logging
from tertulia.kernel.settings import Settings

ROW = "Failing row contains (7, ada@example.com, what Ada said)."


def test_ex_08_a_failure_of_the_database_shows_no_row(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        configure_logging(Settings(log_format="json"), "test")
        log = structlog.get_logger()
        for wrapped in (False, True):
            try:
                fail(wrapped=wrapped)
            except Exception:
                log.exception("request failed")
    finally:
        structlog.reset_defaults()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) == 2
    for line in lines:
        assert "violates check constraint" in line["exception"]
        assert "Ada" not in json.dumps(line)
        assert "ada@example.com" not in json.dumps(line)


def fail(*, wrapped: bool) -> None:
    refused = asyncpg.CheckViolationError("new row violates check constraint")
    refused.detail = ROW
    if not wrapped:
        raise refused
    try:
        raise refused
    except asyncpg.PostgresError as error:
        raise RuntimeError("storing failed") from error
