"""The audit log, by hand: taking out what names a person."""

from typing import TYPE_CHECKING

import typer

from tertulia.cli.accounts import Subdomain, in_transaction, realm_id_at
from tertulia.cli.errors import CommandFailed
from tertulia.cli.target import DataFolder

if TYPE_CHECKING:
    from tertulia.kernel.db import Transaction

app = typer.Typer(help="The audit log.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _commands() -> None:
    """The audit log."""


@app.command("erase")
def erase(user_id: int, realm: Subdomain = "", data: DataFolder = None) -> None:
    """Take what names a person out of the log: addresses, browsers, names. Prints of how many entries. The entries stay."""
    from tertulia.organization.audit_log.actions import erase_person

    async def work(tx: "Transaction") -> int:
        realm_id = await realm_id_at(tx, realm)
        if not await tx.fetchval("select true from account where id = $1 and realm_id = $2", user_id, realm_id):
            raise CommandFailed(f"Nobody in this organization has the id {user_id}.")
        return await erase_person(tx, realm_id, user_id)

    print(in_transaction(data, work))
