"""`tertulia migrate`: the database's form follows the program's."""

from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.processes import ConfigFile
from tertulia.cli.target import configured_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tertulia.migrations.plan import Pending

INDENT = " " * 6


def migrate(
    config: ConfigFile = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Only say what would be done; exit with 1 if anything.")
    ] = False,
    beside_older: Annotated[
        bool, typer.Option("--beside-older", help="Also what breaks older programs that are connected now.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database to the form of this program; says first what is done, to which tables, and how long it may take.
    Safe to repeat, and while the version before runs."""
    from tertulia.migrations import OlderPrograms, pending
    from tertulia.migrations import migrate as migrate_database

    url = configured_settings(config).postgres_url
    steps = pending(url)
    if as_json:
        print_json([{**step._asdict(), "tables": [table._asdict() for table in step.tables]} for step in steps])
    else:
        for step in steps:
            typer.echo("\n".join(_lines(step)))
    if not steps:
        if not as_json:
            typer.echo("The database has the form of this program.")
    elif check:
        raise typer.Exit(1)
    else:
        try:
            migrate_database(url, beside_older=beside_older, tell=lambda text: typer.echo(f"{INDENT}{text}", err=True))
        except OlderPrograms as problem:
            raise CommandFailed(f"Nothing was done: {problem}.") from problem
        if not as_json:
            typer.echo("Done.")


def _lines(step: "Pending") -> "Iterator[str]":
    yield f"{step.form}  {step.what} ({step.duration})"
    for table in step.tables:
        how = "locked for a moment, and for 5 s at most while it waits" if step.locks else "nobody waits for it"
        yield f"{INDENT}{table.name}: about {table.rows:,} rows, {table.bytes / 2**20:,.1f} MiB; {how}"
    if step.ends:
        yield f"{INDENT}programs for forms before {step.ends} work no more after this, and cannot come back"
