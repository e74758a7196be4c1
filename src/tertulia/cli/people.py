"""What an operator is asked about people: who is there, what they may do, where they are logged in; who goes, and comes back."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tertulia.cli.accounts import RoleName, Subdomain, in_transaction, realm_id_at, users
from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json, print_rows
from tertulia.cli.target import DataFolder

if TYPE_CHECKING:
    from tertulia.kernel.db import Reader, Transaction

_LIST = """
select id, email, full_name as name, role, bot_type is not null as is_bot, is_active, date_joined as joined
from account where realm_id = $1 and system_bot is null and (is_active or $2) and (bot_type is null or $3) order by id
"""
_SHOW = """
select id, email, full_name as name, role, bot_type is not null as is_bot, is_active, date_joined as joined,
    password_hash is not null as has_password,
    (select count(*) from api_key where user_id = account.id) as keys,
    (select count(*) from browser_session where user_id = account.id and expires > now()) as sessions,
    (select count(*) from subscription where user_id = account.id) as channels,
    exists (select from second_factor where user_id = account.id) as has_second_factor
from account where realm_id = $1 and email_key = $2 and system_bot is null
"""


@users.command("list")
def list_users(
    realm: Subdomain = "",
    everybody: Annotated[bool, typer.Option("--all", help="Also those who are deactivated.")] = False,
    bots: Annotated[bool, typer.Option("--bots", help="Also bots.")] = False,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """The people of an organization, one on a line: id, role, address, name."""

    async def read(tx: "Transaction") -> list[dict[str, Any]]:
        rows = await tx.fetch(_LIST, await realm_id_at(tx, realm), everybody, bots)
        return [_named(row) for row in rows]

    found = in_transaction(data, read)
    if as_json:
        print_json(found)
    else:
        print_rows(
            (one["id"], one["role"] if one["is_active"] else "deactivated", one["email"], one["name"]) for one in found
        )


@users.command("show")
def show_user(email: str, realm: Subdomain = "", as_json: AsJson = False, data: DataFolder = None) -> None:
    """What is known of one account."""

    async def read(tx: "Transaction") -> dict[str, Any]:
        return _named(await _find(tx, realm, email))

    found = in_transaction(data, read)
    if as_json:
        print_json(found)
    else:
        print_rows(found.items())


@users.command("deactivate")
def deactivate(email: str, realm: Subdomain = "", data: DataFolder = None) -> None:
    """End somebody's account, with their bots, keys and sessions. What they wrote stays."""
    from tertulia.people.users.activation import deactivate_by_directory

    async def work(tx: "Transaction") -> bool:
        return await deactivate_by_directory(tx, await realm_id_at(tx, realm), (await _find(tx, realm, email))["id"])

    if not in_transaction(data, work):
        raise CommandFailed(f"{email} is no active person.")


@users.command("reactivate")
def reactivate(email: str, realm: Subdomain = "", data: DataFolder = None) -> None:
    """Let somebody in again. Their bots stay deactivated, and they log in anew."""
    from tertulia.people.users.activation import reactivate_by_operator

    async def work(tx: "Transaction") -> bool:
        return await reactivate_by_operator(tx, await realm_id_at(tx, realm), (await _find(tx, realm, email))["id"])

    if not in_transaction(data, work):
        raise CommandFailed(f"{email} is no deactivated person.")


@users.command("role")
def give_role(email: str, role: RoleName, realm: Subdomain = "", data: DataFolder = None) -> None:
    """Give somebody another role. Their clients load anew, because they see other things."""
    from tertulia.kernel.auth import Role
    from tertulia.people.users import actions

    async def work(tx: "Transaction") -> bool:
        person = await _find(tx, realm, email)
        return await actions.give_role(tx, await realm_id_at(tx, realm), person["id"], Role[role.name])

    in_transaction(data, work)


@users.command("keys")
def show_keys(
    email: str,
    realm: Subdomain = "",
    end: Annotated[bool, typer.Option("--end", help="End all of them.")] = False,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """The API keys of somebody, one on a line: id, when it was last used, and what it is for."""
    from tertulia.people.logins.queries import ApiKey, keys_of
    from tertulia.people.users.authentication.revocation import end_keys

    async def work(tx: "Transaction") -> list[ApiKey]:
        user_id = (await _find(tx, realm, email))["id"]
        found = await keys_of(tx, user_id, 0)
        if end:
            await end_keys(tx, user_id)
        return found

    found = in_transaction(data, work)
    if as_json:
        print_json(found)
    else:
        print_rows((one.id, _moment(one.last_used), one.label) for one in found)


@users.command("sessions")
def show_sessions(
    email: str,
    realm: Subdomain = "",
    end: Annotated[bool, typer.Option("--end", help="Log them out of all of them.")] = False,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """The browsers somebody is logged in at, one on a line: id, when it was last used, from where, and which."""
    from tertulia.people.sessions.queries import OwnSession, sessions_of
    from tertulia.people.users.authentication.revocation import end_sessions

    async def work(tx: "Transaction") -> list[OwnSession]:
        user_id = (await _find(tx, realm, email))["id"]
        found = await sessions_of(tx, user_id, None)
        if end:
            await end_sessions(tx, user_id)
        return found

    found = in_transaction(data, work)
    if as_json:
        print_json(found)
    else:
        print_rows((one.id, _moment(one.last_used), one.address, one.device) for one in found)


async def _find(reader: "Reader", subdomain: str, email: str) -> Any:
    from tertulia.people.users.addresses import email_key_of

    found = await reader.fetchrow(_SHOW, await realm_id_at(reader, subdomain), email_key_of(email))
    if found is None:
        raise CommandFailed(f"Nobody in this organization has the address {email}.")
    return found


def _named(row: Any) -> dict[str, Any]:
    from tertulia.kernel.auth import Role

    return {**row, "role": Role(row["role"]).name.lower(), "joined": row["joined"].isoformat()}


def _moment(seconds: int | None) -> str:
    return "never" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
