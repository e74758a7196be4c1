"""The language of search: which it is, and changing it."""

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import with_database
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Database

app = typer.Typer(help="Search.", no_args_is_help=True, rich_markup_mode=None)

TELL_SECONDS = 2.0
"""How often it says how far it is."""


@app.callback()
def _commands() -> None:
    """Search."""


@app.command("language")
def language(
    name: Annotated[str, typer.Argument(help="Such as `german`; without: say which it is.")] = "",
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """The language whose words search understands: which forms of a word are one, and which words are too common.

    With a name: change it. New messages follow at once, those that are there one after the other, while the server runs; until
    one is reached it is found only by words that both languages know by the same stem. It may be ended and run again. All
    messages whose words change are written anew: that takes a few minutes for a million, and room on the disk for them.
    """
    settings = target_settings(data)

    async def work(database: "Database") -> dict[str, Any]:
        from tertulia.messaging.narrows import language as search

        if not name:
            async with database.reader() as reader:
                return {"language": await search.language_now(reader)}
        try:
            await search.change_language(database, name)
        except search.NoSuchLanguage:
            async with database.reader() as reader:
                known = ", ".join(await search.languages(reader))
            raise CommandFailed(f"PostgreSQL does not know the language {name!r}. It knows {known}.") from None
        written = await search.rebuild(database, Progress())
        async with database.reader() as reader:
            return {"language": await search.language_now(reader), "written": written}

    found = with_database(settings, work)
    if as_json:
        print_json(found)
    else:
        print_rows(found.items())


class Progress:
    """How far it is, on standard error, now and then."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    def __call__(self, table: str, looked_at: int, total: int) -> None:
        """So many rows of about so many."""
        if (now := time.monotonic()) >= self._next.get(table, 0.0):
            self._next[table] = now + TELL_SECONDS
            print(f"{table}: {looked_at} of about {total}", file=sys.stderr, flush=True)
