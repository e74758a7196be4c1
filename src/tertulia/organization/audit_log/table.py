"""Entries as CSV and as lines of JSON (pure)."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from tertulia.organization.audit_log.model import AuditEntry

COLUMNS = (
    *("id", "time", "act", "actor_id", "actor_name", "key_id", "session_id", "address", "user_agent"),
    *("target_type", "target_id", "target_name", "changes"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(entries: Sequence[AuditEntry]) -> bytes:
    """A table with a head, as RFC 4180 has it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        writer.writerow(_cell(value) for value in _row(entry))
    return out.getvalue().encode()


def as_lines(entries: Sequence[AuditEntry]) -> bytes:
    """One JSON object in each line."""
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)


def _row(entry: AuditEntry) -> tuple[object, ...]:
    target = (None, None, None) if entry.target is None else (entry.target.type, entry.target.id, entry.target.name)
    return (
        entry.id,
        datetime.fromtimestamp(entry.timestamp, UTC).isoformat(timespec="milliseconds"),
        entry.act,
        entry.actor_id,
        entry.actor_name,
        entry.key_id,
        entry.session_id,
        entry.address,
        entry.user_agent,
        *target,
        msgspec.json.encode(entry.changes).decode(),
    )


def _cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula gets an apostrophe: names and browsers are chosen by strangers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else ("" if value is None else value)
