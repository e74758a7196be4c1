"""Structured logs on standard error: JSON lines for machines, coloured lines for people."""

import logging
import sys
import time
from collections.abc import MutableMapping
from typing import Any

import asyncpg
import structlog

from tertulia.kernel.settings import Settings


def configure_logging(settings: Settings, process: str) -> None:
    """Set up structlog for this process; every line carries `process`."""
    renderer: structlog.typing.Processor
    if settings.log_format == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    else:
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            without_rows,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.log_level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=process)


def has_log() -> bool:
    """Whether this process was given one. Commands were not: what they say is for whoever called them."""
    return without_rows in structlog.get_config()["processors"]


class Seldom:
    """Says of each key when it is time to log it again: what somebody can do as often as they like must not fill the log."""

    MAX_KEYS = 10_000
    """Of more, all are forgotten."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._told: dict[str, float] = {}

    def is_due(self, key: str) -> bool:
        """Whether it was not said for so long; if so, it is said now."""
        now = time.monotonic()
        if now < self._told.get(key, now):
            return False
        if len(self._told) >= self.MAX_KEYS:
            self._told.clear()
        self._told[key] = now + self._seconds
        return True


def without_rows(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Take out of an error of PostgreSQL what shows the row that it concerns: logs hold neither texts nor addresses of people."""
    found = entry.get("exc_info")
    error = sys.exc_info()[1] if found is True else found[1] if isinstance(found, tuple) else found
    while isinstance(error, BaseException):
        if isinstance(error, asyncpg.PostgresError):
            error.detail = None
        error = error.__cause__ or error.__context__
    return entry
