"""In which life PostgreSQL is: what a crash ends."""

from datetime import datetime
from typing import Any, Final

ASK_SECONDS: Final = 5.0
# What changes when PostgreSQL recovers from a crash, and is another one on a standby: recovery throws the statistics away. A
# clean restart keeps them, and no transaction is lost by it.
LIFE: Final = "select stats_reset from pg_stat_wal"
# Asked of each new connection. asyncpg learns types from the columns of statements, and cannot when it meets them inside a row
# (joined.py). So it learns here those that rows of ours have, all at once; and those of keys, for which the first request
# would wait otherwise.
_GREETING = """
select stats_reset, null::record[], null::int[], null::bigint[], null::text[], null::boolean[], null::bytea[],
    null::int8multirange
from pg_stat_wal
"""


class Life:
    """In which life of PostgreSQL the newest connection is. A crash ends all of them, so whatever is open is in the same."""

    def __init__(self) -> None:
        self.since: datetime | None = None

    async def note(self, connection: Any) -> None:
        """A connection was opened."""
        self.since = await connection.fetchval(_GREETING, timeout=ASK_SECONDS)
