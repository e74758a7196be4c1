"""`tertulia secrets`: the keys that seal secrets in the database (kernel/sealing.py), and their rotation."""

import asyncio
from typing import TYPE_CHECKING

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Database
    from tertulia.kernel.sealing import SealedColumn

app = typer.Typer(help="Keys that seal secrets in the database.", no_args_is_help=True, rich_markup_mode=None)
BATCH = 500


@app.command("new-key")
def new_key() -> None:
    """Print a new key, for TERTULIA_SEALING_KEYS or the file that TERTULIA_SEALING_KEY_FILE names."""
    from tertulia.kernel import sealing

    print(sealing.new_key())


@app.command("reseal")
def reseal(data: DataFolder = None) -> None:
    """Seal everything with the first key: what is not sealed yet, and what another key sealed. May be run at any time."""
    from tertulia.kernel.db import Database
    from tertulia.kernel.sealing import CannotOpen, sealer_of

    settings = target_settings(data)
    sealer = sealer_of(settings)
    if not sealer.has_key:
        raise CommandFailed("There is no sealing key. `tertulia secrets new-key` makes one.")

    async def run() -> None:
        connecting = Database.connect(settings.postgres_url, shards=settings.shards, size=1, sealer=sealer)
        async with await connecting as database:
            from tertulia.server.features import FEATURES

            for column in (column for feature in FEATURES for column in feature.sealed):
                await _reseal_column(database, column)

    try:
        asyncio.run(run())
    except OSError as problem:
        raise CommandFailed(f"PostgreSQL cannot be reached: {problem}") from problem
    except CannotOpen as problem:
        raise CommandFailed(f"{problem} What was sealed so far stays; run it again then.") from problem


async def _reseal_column(database: "Database", column: "SealedColumn") -> None:
    done, last = 0, -1
    while rows := await _reseal_batch(database, column, last):
        done, last = done + len(rows), rows[-1]
        print(f"{column.name}: {done} sealed", flush=True)
    if not done:
        print(f"{column.name}: nothing to do", flush=True)


async def _reseal_batch(database: "Database", column: "SealedColumn", after: int) -> list[int]:
    """One transaction: its rows wait for nobody longer than it takes. Returns which they were."""
    # All names come from the features' own declarations, and no value is put into the text.
    text = column.column if column.is_text else f"encode({column.column}, 'escape')"
    find = f"""
    select {column.row} as row, {column.column} as stored from {column.table}
    where {column.row} > $2 and not starts_with({text}, $1) order by {column.row} limit {BATCH} for no key update
    """  # noqa: S608
    change = f"update {column.table} set {column.column} = $2 where {column.row} = $1"  # noqa: S608
    async with database.transaction() as tx:
        found = await tx.fetch(find, tx.sealer.current_prefix, after)
        for row in found:
            await tx.execute(change, row["row"], tx.sealer.resealed(column, row["stored"]))
    return [row["row"] for row in found]
