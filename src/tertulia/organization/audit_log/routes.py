"""Endpoints of the audit log: owners read it. All are of our own."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Owner
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Reply, get
from tertulia.kernel.errors import Refusal
from tertulia.kernel.extra_parameters import extra_parameters
from tertulia.organization.audit_log import queries
from tertulia.organization.audit_log.acts import Act
from tertulia.organization.audit_log.model import MAX_PAGE, MAX_ROWS, AuditEntry, Search, acts_named
from tertulia.organization.audit_log.table import as_csv, as_lines

CSV, LINES = "text/csv", "application/x-ndjson"

Word = Annotated[str, msgspec.Meta(max_length=60)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**11)]
Page = Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)]
Rows = Annotated[int, msgspec.Meta(ge=1, le=MAX_ROWS)]

FILTERS = {
    "actor_id": int,
    "target_type": Word,
    "target_id": int,
    "act": Word,
    "since": Seconds,
    "until": Seconds,
    "before": int,
}


class AuditLog(msgspec.Struct):
    """The answer of GET /audit_log."""

    entries: list[AuditEntry]
    next: int | None
    """`before` of the next page; null: there is none."""


class Acts(msgspec.Struct):
    """The answer of GET /audit_log/acts."""

    acts: list[str]


@get("/audit_log")
@extra_parameters(FILTERS)
async def get_audit_log(caller: Owner, reader: Reader, *, limit: Page = 100, **filters: object) -> AuditLog:
    """Who did what to whom in the organization, the newest first. Only owners read it.

    Filters: `actor_id`, `target_type` and `target_id`, `act` (one, or a category: what is before the dot), `since` and `until`
    in seconds since 1970. `next` of an answer is `before` of the next page.
    """
    found = await queries.search(reader, _search(caller, limit, filters))
    return AuditLog(found, found[-1].id if len(found) == limit else None)


@get("/audit_log/csv", media_type=CSV)
@extra_parameters(FILTERS)
async def get_audit_log_as_table(caller: Owner, reader: Reader, *, limit: Rows = MAX_ROWS, **filters: object) -> Reply:
    """As GET /audit_log, as CSV, for a spreadsheet. The last line's id is `before` of what follows."""
    found = await queries.search(reader, _search(caller, limit, filters))
    headers = {"Content-Disposition": 'attachment; filename="audit-log.csv"'}
    return Reply(as_csv(found), headers=headers, content_type=f"{CSV}; charset=utf-8")


@get("/audit_log/stream", media_type=LINES)
async def stream_audit_log(caller: Owner, reader: Reader, *, after: int = 0, limit: Rows = MAX_PAGE) -> Reply:
    """The log for a program that collects it: one JSON object in each line, the oldest first.

    Repeat the last line's `id` as `after`, for ever: no entry is missed, and none comes twice. No line: there is nothing new.
    """
    found = await queries.search(reader, Search(caller.realm_id, limit, after=after))
    return Reply(as_lines(found), content_type=LINES)


@get("/audit_log/acts")
async def get_audit_acts(_caller: Owner) -> Acts:
    """The acts that are noted, by their names."""
    return Acts([act.value for act in Act])


def _search(caller: Owner, limit: int, filters: dict[str, object]) -> Search:
    chosen = {name: value for name, value in filters.items() if value is not None}
    act = chosen.pop("act", None)
    acts = None if act is None else acts_named(str(act))
    if acts == ():
        raise Refusal(f"There is no act named '{act}'.")
    if ("target_id" in chosen) != ("target_type" in chosen):
        raise Refusal("target_type and target_id go together.")
    return msgspec.convert({"realm_id": caller.realm_id, "limit": limit, "acts": acts, **chosen}, Search)
