"""The directory of an organization (LDAP): accounts follow it. What changes is on standard output, one line each."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tertulia.people.directories.planning import Plan
    from tertulia.people.directories.sync import DirectorySync, Step

app = typer.Typer(help="The directory of users (LDAP).", no_args_is_help=True, rich_markup_mode=None)

NOT_ALL = 3
"""The exit code if some of it was not possible."""
PROGRESS = 100
"""After so many changes a line says how far it is."""


@app.callback()
def directory() -> None:
    """The directory of users (LDAP)."""


@app.command("sync")
def sync(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    max_leavers: Annotated[
        int | None, typer.Option(min=0, help="Deactivate up to so many, instead of ldap_max_leavers_percent.")
    ] = None,
    data: DataFolder = None,
) -> None:
    """Compare accounts with the directory: names, addresses, groups and roles follow it, and who has left is deactivated.

    Ends with 0 if all is done, 3 if some of it was not possible, 1 if nothing was done.
    """
    problems = asyncio.run(_sync(data, dry_run=dry_run, max_leavers=max_leavers))
    if problems:
        raise typer.Exit(NOT_ALL)


async def _sync(data: "DataFolder", *, dry_run: bool, max_leavers: int | None) -> int:
    from tertulia.kernel.db import Database
    from tertulia.kernel.sealing import sealer_of
    from tertulia.people.directories.listing import ListingFailure
    from tertulia.people.directories.planning import check_leavers
    from tertulia.people.directories.sync import DirectorySync

    settings = target_settings(data)
    try:
        connecting = Database.connect(settings.postgres_url, shards=settings.shards, size=2, sealer=sealer_of(settings))
        async with await connecting as database:
            syncing = DirectorySync(database, settings)
            realm = await syncing.get_realm()
            typer.echo("Reading the directory ...", err=True)
            plan = await syncing.plan(realm)
            if not dry_run:
                check_leavers(plan, settings, max_leavers)
            problems = await _show(_steps(syncing, plan, dry_run=dry_run), _count(plan), dry_run=dry_run)
            check_leavers(plan, settings, max_leavers)
            return problems
    except ListingFailure as failure:
        raise CommandFailed(str(failure)) from failure
    except OSError as problem:
        raise CommandFailed(f"PostgreSQL cannot be reached: {problem}") from problem


async def _steps(syncing: "DirectorySync", plan: "Plan", *, dry_run: bool) -> "AsyncIterator[Step]":
    from tertulia.people.directories.sync import describe_all

    if dry_run:
        for step in describe_all(plan):
            yield step
        return
    async for step in syncing.carry_out(await syncing.get_realm(), plan):
        yield step


async def _show(steps: "AsyncIterator[Step]", total: int, *, dry_run: bool) -> int:
    """Print what happens; returns how many problems there were."""
    done = problems = 0
    async for step in steps:
        typer.echo(f"{step.kind:8}{step.text}")
        if step.kind == "problem":
            problems += 1
            continue
        done += 1
        if done % PROGRESS == 0:
            typer.echo(f"{done} of {total} ...", err=True)
    typer.echo(f"{done} {'changes to make' if dry_run else 'changes made'}, {problems} not possible.", err=True)
    return problems


def _count(plan: "Plan") -> int:
    placed = sum(len(placement.add) + len(placement.remove) for placement in plan.placements)
    return len(plan.leavers) + len(plan.changes) + placed
