"""Organizations, users and API keys, made by hand. What a script needs (an id, a key) is alone on standard output."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import typer

from tertulia.cli.errors import CommandFailed, is_of_files
from tertulia.cli.target import DataFolder, target_settings

if TYPE_CHECKING:
    from tertulia.kernel.db import Database, Reader, Transaction
    from tertulia.kernel.settings import Settings
    from tertulia.organization.realms.queries import Realm

realms = typer.Typer(help="Organizations.", no_args_is_help=True, rich_markup_mode=None)
users = typer.Typer(help="People.", no_args_is_help=True, rich_markup_mode=None)
keys = typer.Typer(help="API keys.", no_args_is_help=True, rich_markup_mode=None)
scim_tokens = typer.Typer(help="Tokens of directories (SCIM).", no_args_is_help=True, rich_markup_mode=None)

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
    channel: Annotated[
        str, typer.Option(help="Its first channel, which everybody who joins lands in; empty: none.")
    ] = "general",
    link: Annotated[
        bool,
        typer.Option("--link", help="Make nothing in it: a link is printed by which its owner begins it in a browser."),
    ] = False,
    data: DataFolder = None,
) -> None:
    """Make an organization with a first channel; prints its id. Next: `tertulia user create --role owner`. With --link its
    owner chooses name, channels and a password by the link that is printed, which is good for a day, once."""
    settings = target_settings(data)

    async def create(tx: "Transaction") -> int | str:
        from tertulia.organization.realms.actions import create_realm

        if link:
            return await link_to_begin(tx, settings, await create_realm(tx, subdomain, name), subdomain)
        return await begin_realm(tx, subdomain, name, channel)

    print(in_transaction(data, create))


@realms.command("link")
def print_link(realm: Subdomain = "", data: DataFolder = None) -> None:
    """Print another link by which the owner of an organization that nobody is in begins it. The last one ends."""
    settings = target_settings(data)

    async def make(tx: "Transaction") -> str:
        return await link_to_begin(tx, settings, await realm_id_at(tx, realm), realm)

    print(in_transaction(data, make))


async def link_to_begin(tx: "Transaction", settings: "Settings", realm_id: int, subdomain: str) -> str:
    """The link by which an organization begins. The key stands behind the #: no server and no proxy writes it down."""
    from tertulia.organization.realms.waiting import expect_owner

    return f"{settings.url_of(subdomain)}/#begin/{await expect_owner(tx, realm_id)}"


async def begin_realm(tx: "Transaction", subdomain: str, name: str, channel: str) -> int:
    """An organization with its first channel, if it is to have one, and a topic to begin with; returns its id."""
    from tertulia.conversations.beginnings.actions import begin_channels
    from tertulia.organization.realms import actions

    realm_id = await actions.create_realm(tx, subdomain, name)
    if channel:
        await begin_channels(tx, realm_id, [channel])
    return realm_id


@users.command("create")
def create_user(
    email: str,
    full_name: Annotated[str, typer.Option("--name", help="The name others see.")],
    role: Annotated[RoleName, typer.Option(help="What the user may do.")] = RoleName.MEMBER,
    realm: Subdomain = "",
    link: Annotated[
        bool, typer.Option("--link", help="Ask for none: a link to choose one is printed, good for a day, once.")
    ] = False,
    data: DataFolder = None,
) -> None:
    """Make a user; prints the id. The password is asked for, or taken from TERTULIA_USER_PASSWORD; without, none is set."""
    from tertulia.people.logins.reset import link_by_hand
    from tertulia.people.users.password_words import words_of
    from tertulia.people.users.passwords import check_strength, hash_password

    password = None if link else _ask_password()
    settings = target_settings(data)

    async def create(tx: "Transaction") -> int | str:
        realm_id = await realm_id_at(tx, realm)
        if password is not None:
            await check_strength(password, await words_of(tx, realm_id, settings), email, full_name)
        stored = None if password is None else await hash_password(password, settings)
        user_id = await begin_user(tx, realm_id, Newcomer(email, full_name, role), stored)
        page = f"{settings.url_of(realm)}/accounts/password/reset"
        return await link_by_hand(tx, realm_id, email, page, keep_keys=False) if link else user_id

    print(in_transaction(data, create))


class Newcomer(NamedTuple):
    """Somebody for whom an account is made."""

    email: str
    full_name: str
    role: RoleName


async def begin_user(tx: "Transaction", realm_id: int, newcomer: Newcomer, password_hash: str | None) -> int:
    """An account in the channels that everybody lands in; returns its id."""
    from tertulia.conversations.channels.actions.defaults import hold_defaults, welcome
    from tertulia.kernel.auth import Role
    from tertulia.people.users import actions

    email, full_name, role = newcomer
    channels = await hold_defaults(tx, realm_id)
    user_id = await actions.create_user(tx, realm_id, email, full_name, Role[role.name], password_hash=password_hash)
    if role is not RoleName.GUEST:
        await welcome(tx, realm_id, user_id, channels)
    return user_id


@users.command("password")
@users.command("reset-password", hidden=True)
def reset_password(
    email: str,
    realm: Subdomain = "",
    must_reset: Annotated[
        bool, typer.Option("--must-reset", help="Set none: the old one ends, and its owner asks for a mail.")
    ] = False,
    link: Annotated[
        bool, typer.Option("--link", help="Set none: the old one ends, and a link to choose another is printed.")
    ] = False,
    keep_keys: Annotated[
        bool, typer.Option("--keep-keys", help="Leave the user's API keys as they are, until a link is used.")
    ] = False,
    data: DataFolder = None,
) -> None:
    """Replace a password; browsers and API keys of the user end. The new one is asked for, or taken from
    TERTULIA_USER_PASSWORD. Without one, as with --link, a link is printed that is good for a day, once."""
    from tertulia.people.logins.reset import end_by_hand, link_by_hand, set_by_hand

    chosen = None if must_reset or link else _ask_password()
    settings = target_settings(data)

    async def reset(tx: "Transaction") -> str | None:
        realm_id = await realm_id_at(tx, realm)
        if chosen is not None:
            await set_by_hand(tx, realm_id, email, chosen, settings, keep_keys=keep_keys)
        elif must_reset:
            await end_by_hand(tx, realm_id, email, keep_keys=keep_keys)
        else:
            page = f"{settings.url_of(realm)}/accounts/password/reset"
            return await link_by_hand(tx, realm_id, email, page, keep_keys=keep_keys)
        return None

    if (made := in_transaction(data, reset)) is not None:
        print(made)


@users.command("remove-factor")
def remove_factor(email: str, realm: Subdomain = "", data: DataFolder = None) -> None:
    """Take somebody's second factor away who has lost it, recovery codes too. All their browsers are logged out."""
    from tertulia.people.factors.actions import Somebody, remove
    from tertulia.people.logins.queries import find_account
    from tertulia.people.users.addresses import email_key_of
    from tertulia.people.users.authentication.revocation import end_sessions

    async def take(tx: "Transaction") -> None:
        found = await get_realm(tx, realm)
        account = await find_account(tx, found.id, email_key_of(email))
        if account is None:
            raise CommandFailed(f"Nobody in this organization has the address {email}.")
        await remove(tx, found, Somebody(account.id, account.email, account.full_name))
        await end_sessions(tx, account.id)

    in_transaction(data, take)


@users.command("unlink")
def unlink(email: str, realm: Subdomain = "", data: DataFolder = None) -> None:
    """Forget which provider, or entry of the directory, vouches for somebody. Their next login there counts as the first
    one, and is believed by its address: make sure whose that is."""
    from tertulia.people.logins.identities import untie
    from tertulia.people.logins.queries import find_account
    from tertulia.people.users.addresses import email_key_of

    async def forget(tx: "Transaction") -> int:
        account = await find_account(tx, await realm_id_at(tx, realm), email_key_of(email))
        if account is None:
            raise CommandFailed(f"Nobody in this organization has the address {email}.")
        return await untie(tx, account.id)

    print(in_transaction(data, forget))


@keys.command("create")
def create_key(
    email: str,
    label: Annotated[str, typer.Option(help="What the key is for, shown in lists.")] = "command line",
    realm: Subdomain = "",
    data: DataFolder = None,
) -> None:
    """Make one more API key for a user or bot; prints it, for the only time."""
    from tertulia.people.users import actions
    from tertulia.people.users.addresses import email_key_of
    from tertulia.people.users.notices import tell_owner

    async def create(tx: "Transaction") -> str:
        realm_id = await realm_id_at(tx, realm)
        sql = "select id from account where realm_id = $1 and email_key = $2 and system_bot is null"
        user_id = await tx.fetchval(sql, realm_id, email_key_of(email))
        if user_id is None:
            raise CommandFailed(f"Nobody in this organization has the address {email}.")
        key = await actions.create_api_key(tx, user_id, label)
        await tell_owner(tx, realm_id, user_id, "operator")
        return key

    print(in_transaction(data, create))


@scim_tokens.command("create")
def create_scim_token(
    label: Annotated[str, typer.Argument(help="What the token is for, shown in lists.")],
    realm: Subdomain = "",
    data: DataFolder = None,
) -> None:
    """Make a token with which a directory keeps people and groups (SCIM); prints it, for the only time."""
    from tertulia.integrations.scim.tokens.actions import make_token

    async def create(tx: "Transaction") -> str:
        return (await make_token(tx, await realm_id_at(tx, realm), label, None)).token

    print(in_transaction(data, create))


@scim_tokens.command("list")
def list_scim_tokens(realm: Subdomain = "", data: DataFolder = None) -> None:
    """The tokens of directories, one on a line: id, when it was last used, and what it is for."""
    from tertulia.integrations.scim.tokens.queries import TokenRecord, tokens_of

    async def read(tx: "Transaction") -> list[TokenRecord]:
        return await tokens_of(tx, await realm_id_at(tx, realm))

    for token in in_transaction(data, read):
        used = "never" if token.last_used is None else datetime.fromtimestamp(token.last_used, UTC).isoformat()
        print(token.id, used, token.label, sep="\t")


@scim_tokens.command("revoke")
def revoke_scim_token(token_id: int, realm: Subdomain = "", data: DataFolder = None) -> None:
    """End a token of a directory."""
    from tertulia.integrations.scim.tokens.actions import revoke_token

    async def revoke(tx: "Transaction") -> None:
        await revoke_token(tx, await realm_id_at(tx, realm), token_id, None)

    in_transaction(data, revoke)


def in_transaction(
    data: Path | None, work: "Callable[[Transaction], Awaitable[T]]", *, while_frozen: bool = False
) -> T:
    """Do the work of a command, all or nothing. An organization that is frozen is not changed, unless `while_frozen`."""
    return transact(target_settings(data), work, while_frozen=while_frozen)


def transact(settings: "Settings", work: "Callable[[Transaction], Awaitable[T]]", *, while_frozen: bool = False) -> T:
    """The same, on the database of these settings."""

    async def in_one(database: "Database") -> T:
        async with database.transaction() as tx:
            if not while_frozen:
                tx.respect_freeze()
            return await work(tx)

    return with_database(settings, in_one)


def with_database(settings: "Settings", work: "Callable[[Database], Awaitable[T]]") -> T:
    """Do work in more than one transaction."""
    from tertulia.kernel.db import Database
    from tertulia.kernel.sealing import sealer_of

    async def run() -> T:
        connecting = Database.connect(settings.postgres_url, shards=settings.shards, size=1, sealer=sealer_of(settings))
        async with await connecting as database:
            return await work(database)

    try:
        return asyncio.run(run())
    except OSError as problem:
        if is_of_files(problem):
            raise
        raise CommandFailed(f"PostgreSQL cannot be reached: {problem}") from problem


async def realm_id_at(reader: "Reader", subdomain: str) -> int:
    """The organization at a subdomain; fails if there is none."""
    return (await get_realm(reader, subdomain)).id


async def get_realm(reader: "Reader", subdomain: str) -> "Realm":
    """The organization at a subdomain, whole; fails if there is none."""
    from tertulia.organization.realms.queries import find_realm

    realm = await find_realm(reader, subdomain)
    if realm is None:
        where = f"at the subdomain {subdomain!r}" if subdomain else "at the main address"
        raise CommandFailed(f"There is no organization {where}. Make it with `tertulia realm create`.")
    return realm


def _ask_password() -> str | None:
    if (given := os.environ.get(PASSWORD_VARIABLE)) is not None:
        return given
    if not sys.stdin.isatty():
        return None
    answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return answer
