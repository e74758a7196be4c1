"""`tertulia migrate`: the database's form follows the program's."""

from typing import Annotated

import typer

from tertulia.cli.processes import ConfigFile
from tertulia.cli.target import configured_settings


def migrate(
    config: ConfigFile = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Only say what would be done; exit with 1 if anything.")
    ] = False,
) -> None:
    """Bring the database to the form of this program. Safe to repeat, and while the version before runs."""
    from tertulia.migrations import migrate as migrate_database
    from tertulia.migrations import pending

    url = configured_settings(config).postgres_url
    steps = pending(url)
    for step in steps:
        typer.echo(f"{step.form}  {step.what} ({step.duration})")
    if not steps:
        typer.echo("The database has the form of this program.")
    elif check:
        raise typer.Exit(1)
    else:
        migrate_database(url, tell=lambda text: typer.echo(f"        {text}", err=True))
        typer.echo("Done.")
