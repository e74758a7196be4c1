"""`tertulia move`: an organization goes from one server to another (docs/how-to/move.md)."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import get_realm, in_transaction, with_database
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Database, Transaction
    from tertulia.kernel.settings import Settings

app = typer.Typer(help="Organizations that go from one server to another.", no_args_is_help=True, rich_markup_mode=None)
RealmArgument = Annotated[
    str, typer.Argument(metavar="REALM", help="The organization's subdomain; '' is the main one.")
]
WRITERS_SECONDS = 60.0
"""How long those are waited for who began to write before the freeze: longer than any request may take."""


@app.command("freeze")
def freeze(realm: RealmArgument, as_json: AsJson = False, data: DataFolder = None) -> None:
    """Make an organization read only. People read and log in; whoever writes is told to try again. It stays so until
    `tertulia move thaw` or `tertulia move done`, whatever happens to this command."""
    from tertulia.organization.realms import freezing

    settings = target_settings(data)

    async def work(database: "Database") -> bool:
        async with database.transaction() as tx:
            is_new = await freezing.freeze(tx, (await get_realm(tx, realm)).id)
        await wait_for_writers(database)
        return is_new

    is_new = with_database(settings, work)
    _tell(settings, realm, as_json=as_json, words="frozen" if is_new else "frozen already", is_frozen=True)


@app.command("thaw")
def thaw(realm: RealmArgument, as_json: AsJson = False, data: DataFolder = None) -> None:
    """Let people write to an organization again that was frozen: it stays on this server after all."""
    from tertulia.organization.realms import freezing

    async def work(tx: "Transaction") -> bool:
        found = await get_realm(tx, realm)
        if not found.is_active:
            raise CommandFailed(
                "The organization is deactivated. If it has not moved after all: `tertulia realm reactivate`, then thaw it."
            )
        return await freezing.thaw(tx, found.id)

    is_new = in_transaction(data, work, while_frozen=True)
    words = "can be written to again" if is_new else "was not frozen"
    _tell(target_settings(data), realm, as_json=as_json, words=words, is_frozen=False)


async def wait_for_writers(database: "Database") -> None:
    """Nobody writes any more, after this."""
    from tertulia.organization.realms.freezing import wait_for_writers

    if left := await wait_for_writers(database, WRITERS_SECONDS):
        raise CommandFailed(
            f"The organization is frozen, but transactions that began before are still under way after"
            f" {WRITERS_SECONDS:.0f} s ({', '.join(left)}). End them, and give the same command again."
        )


def _tell(settings: "Settings", realm: str, *, as_json: bool, words: str, **facts: Any) -> None:
    url = settings.url_of(realm)
    if as_json:
        print_json({"url": url, **facts})
    else:
        print(f"{url}: {words}", file=sys.stderr)
