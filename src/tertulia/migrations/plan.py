"""What `migrate` is about to do to a database, told before it is done: which tables, how large they are, who waits for whom."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

MOMENT = "a moment"
BYTES_A_SECOND = 40 * 1024 * 1024
"""How fast a table is read to make an index of it, twice, on a small machine that has other work to do."""
ROWS_A_SECOND = 5_000
"""How fast rows are changed in batches."""
UNTOLD_SECONDS = 5
_TABLE = re.compile(
    r"\b(?:alter\s+table|drop\s+table|update|delete\s+from|\son)\s+(?:only\s+|if\s+exists\s+)*\"?([a-z_]+)",
    re.IGNORECASE,
)
_SIZES = text(
    "select relname, greatest(reltuples, 0)::bigint as rows, pg_total_relation_size(oid) as bytes from pg_class"
    " where relkind = 'r' and relnamespace = to_regnamespace(current_schema()) and relname = any(:names) order by relname"
)
_OLDER = text(
    "select right(application_name, 4) as form, count(*) as connections from pg_stat_activity"
    r" where datname = current_database() and application_name ~ '^tertulia .* form \d{4}$'"
    " and right(application_name, 4) < :form group by 1 order by 1"
)


class Table(NamedTuple):
    """A table that a step touches."""

    name: str
    rows: int
    """About: as PostgreSQL counted last."""
    bytes: int


class Pending(NamedTuple):
    """A migration that a database has not had yet."""

    form: str
    what: str
    duration: str
    tables: tuple[Table, ...]
    locks: bool
    """Whether others wait for it, though never long: its steps are short, and give up after 5 s to try again."""
    ends: str
    """Programs for forms before this one work no more after it; empty: all that work now go on."""


class OlderPrograms(Exception):
    """Programs run that would break. The text says which."""


def describe(connection: Connection, revision: Any, oldest: str) -> Pending:
    """One step. `oldest`: the oldest form whose programs work before it."""
    module = revision.module
    repeatable: Iterable[str] = getattr(module, "REPEATABLE", ())
    sql = [getattr(module, "SQL", ""), *repeatable]
    names = sorted({name.lower() for part in sql for name in _TABLE.findall(part)})
    tables = tuple(Table(*row) for row in connection.execute(_SIZES, {"names": names}))
    return Pending(
        form=revision.revision,
        what=(revision.doc or "").splitlines()[0],
        duration=getattr(module, "duration", None) or _duration(repeatable, tables),
        tables=tables,
        locks=bool(tables) and not repeatable,
        ends=module.works_with if module.works_with > oldest else "",
    )


def check_nobody_is_older(connection: Connection, form: str) -> None:
    """Refuse to take away what a connected program still needs."""
    found = connection.execute(_OLDER, {"form": form}).all()
    if found:
        who = ", ".join(f"{row.connections} connections of programs for form {row.form}" for row in found)
        raise OlderPrograms(
            f"this takes away what programs for forms before {form} need, and there are {who}: bring all processes to the"
            " newer version first"
        )


def _duration(repeatable: Iterable[str], tables: tuple[Table, ...]) -> str:
    """A rough guess, rather too long than too short."""
    statements = list(repeatable)
    seconds = 0.0
    if any("concurrently" in one.lower() for one in statements):
        seconds += 2 * sum(table.bytes for table in tables) / BYTES_A_SECOND
    if any(re.match(r"\s*(update|delete)\b", one, re.IGNORECASE) for one in statements):
        seconds += sum(table.rows for table in tables) / ROWS_A_SECOND
    if seconds < UNTOLD_SECONDS:
        return MOMENT
    return f"about {seconds:.0f} s" if seconds < 120 else f"about {seconds / 60:.0f} min"
