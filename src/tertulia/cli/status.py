"""How the server is, in numbers."""

from typing import TYPE_CHECKING, Any

import typer

from tertulia.cli import processes
from tertulia.cli.accounts import in_transaction
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Transaction

relay = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
relay.callback()(processes.relay_or_more)

_STATS = """
select (select count(*) from realm) as organizations,
    (select count(*) from account where is_active and bot_type is null) as people,
    (select reltuples::bigint from pg_class where oid = 'message'::regclass) as messages_about,
    (select coalesce(sum(used), 0)::bigint from upload_space) as bytes_of_files,
    pg_database_size(current_database()) as bytes_of_database,
    (select count(*) from mail_outbox) as mails_waiting,
    (select count(*) from notice) as notices_waiting,
    (select count(*) from hook_call) as calls_to_bots_waiting,
    (select count(*) from push_due) as pushes_waiting
"""
_RELAY = """
select slot_name as slot, active, wal_status, pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::bigint as bytes_behind,
    (select epoch from relay_state where id = 1) as epoch,
    (select extract(epoch from now() - max(updated_at))::bigint from relay_checkpoint) as seconds_since_it_stored
from pg_replication_slots where slot_name = $1
"""


def version(as_json: AsJson = False) -> None:
    """The version of this program, and the form of the database that it needs."""
    from tertulia import __version__
    from tertulia.kernel.form import own_form

    found = {"version": __version__, "schema": own_form()}
    if as_json:
        print_json(found)
    else:
        print_rows(found.items())


def stats(as_json: AsJson = False, data: DataFolder = None) -> None:
    """How much there is, and what waits for the worker."""

    async def read(tx: "Transaction") -> dict[str, Any]:
        return dict(await tx.fetchrow(_STATS) or {})

    _print(in_transaction(data, read), as_json=as_json)


@relay.command("status")
def relay_status(as_json: AsJson = False, data: DataFolder = None) -> None:
    """Whether a relay carries events, and how much waits for it."""
    settings = target_settings(data)

    async def read(tx: "Transaction") -> dict[str, Any]:
        found = await tx.fetchrow(_RELAY, settings.slot)
        if found is None:
            raise CommandFailed(f"There is no slot {settings.slot}: no relay has run yet.")
        return dict(found)

    _print(in_transaction(data, read), as_json=as_json)


def _print(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        print_rows(found.items())
