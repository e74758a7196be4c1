"""Organizations, users and API keys, made by hand. What a script needs (an id, a key) is alone on standard output."""

import asyncio
import os
import secrets
import sys
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Transaction

realms = typer.Typer(help="Organizations.", no_args_is_help=True, rich_markup_mode=None)
users = typer.Typer(help="People.", no_args_is_help=True, rich_markup_mode=None)
keys = typer.Typer(help="API keys.", no_args_is_help=True, rich_markup_mode=None)

Subdomain = Annotated[str, typer.Option("--realm", help="The organization's subdomain; empty: the main one.")]
T = TypeVar("T")
PASSWORD_VARIABLE = "TERTULIA_USER_PASSWORD"  # noqa: S105 -- a name, not a password


class RoleName(StrEnum):
    OWNER = "owner"
    ADMINISTRATOR = "administrator"
    MODERATOR = "moderator"
    MEMBER = "member"
    GUEST = "guest"


@realms.command("create")
def create_realm(
    name: str,
    subdomain: Annotated[str, typer.Option(help="Its address below the server's host; empty: the host itself.")] = "",
    data: DataFolder = None,
) -> None:
    """Make an organization; prints its id. Next: `tertulia user create --role owner`."""
    from tertulia.realms import actions

    print(_in_transaction(data, lambda tx: actions.create_realm(tx, subdomain, name)))


@users.command("create")
def create_user(
    email: str,
    full_name: Annotated[str, typer.Option("--name", help="The name others see.")],
    role: Annotated[RoleName, typer.Option(help="What the user may do.")] = RoleName.MEMBER,
    realm: Subdomain = "",
    data: DataFolder = None,
) -> None:
    """Make a user; prints the id. The password is asked for, or taken from TERTULIA_USER_PASSWORD; without, none is set."""
    from tertulia.channels.actions.defaults import hold_defaults, welcome
    from tertulia.kernel.auth import Role
    from tertulia.users import actions

    password = _ask_password()

    async def create(tx: "Transaction") -> int:
        realm_id = await _get_realm_id(tx, realm)
        channels = await hold_defaults(tx, realm_id)
        user_id = await actions.create_user(tx, realm_id, email, full_name, Role[role.name], password=password)
        if role is not RoleName.GUEST:
            await welcome(tx, realm_id, user_id, channels)
        return user_id

    print(_in_transaction(data, create))


@users.command("reset-password")
def reset_password(
    email: str,
    realm: Subdomain = "",
    must_reset: Annotated[
        bool, typer.Option("--must-reset", help="Set none: the old one ends, and its owner asks for a mail.")
    ] = False,
    keep_keys: Annotated[bool, typer.Option("--keep-keys", help="Leave the user's API keys as they are.")] = False,
    data: DataFolder = None,
) -> None:
    """Replace a password; browsers and API keys of the user end. The new one is asked for, or taken from
    TERTULIA_USER_PASSWORD; without, one is made up and printed."""
    from tertulia.logins.reset import reset_by_hand
    from tertulia.users.passwords import check_strength

    chosen = None if must_reset else _ask_password()
    password = chosen if chosen is not None or must_reset else secrets.token_urlsafe(12)

    async def reset(tx: "Transaction") -> None:
        if chosen is not None:
            await check_strength(chosen, email)
        await reset_by_hand(tx, await _get_realm_id(tx, realm), email, password, keep_keys=keep_keys)

    _in_transaction(data, reset)
    if chosen is None and password is not None:
        print(password)


@keys.command("create")
def create_key(
    email: str,
    label: Annotated[str, typer.Option(help="What the key is for, shown in lists.")] = "command line",
    realm: Subdomain = "",
    data: DataFolder = None,
) -> None:
    """Make one more API key for a user or bot; prints it, for the only time."""
    from tertulia.users import actions
    from tertulia.users.queries import email_key_of

    async def create(tx: "Transaction") -> str:
        realm_id = await _get_realm_id(tx, realm)
        sql = "select id from account where realm_id = $1 and email_key = $2 and system_bot is null"
        user_id = await tx.fetchval(sql, realm_id, email_key_of(email))
        if user_id is None:
            raise CommandFailed(f"Nobody in this organization has the address {email}.")
        return await actions.create_api_key(tx, user_id, label)

    print(_in_transaction(data, create))


def _in_transaction(data: Path | None, work: "Callable[[Transaction], Awaitable[T]]") -> T:
    from tertulia.kernel.db import Database

    settings = target_settings(data)

    async def run() -> T:
        connecting = Database.connect(settings.postgres_url, shards=settings.shards, size=1)
        async with await connecting as database, database.transaction() as tx:
            return await work(tx)

    try:
        return asyncio.run(run())
    except OSError as problem:
        raise CommandFailed(f"PostgreSQL cannot be reached: {problem}") from problem


async def _get_realm_id(tx: "Transaction", subdomain: str) -> int:
    from tertulia.realms.queries import find_realm

    realm = await find_realm(tx, subdomain)
    if realm is None:
        where = f"at the subdomain {subdomain!r}" if subdomain else "at the main address"
        raise CommandFailed(f"There is no organization {where}. Make it with `tertulia realm create`.")
    return realm.id


def _ask_password() -> str | None:
    if (given := os.environ.get(PASSWORD_VARIABLE)) is not None:
        return given
    if not sys.stdin.isatty():
        return None
    answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return answer
