"""What can be done to users: making and changing them. Coming and going is in coming_and_going.py."""

import asyncpg
import msgspec

from tertulia.events.record import Audience
from tertulia.groups.actions import tell_role_change
from tertulia.kernel.auth import EVERYONE, Caller, Role, fake_email
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key, new_api_key
from tertulia.realms.domains import check_address_allowed
from tertulia.realms.settings import decode_settings
from tertulia.users import events, queries
from tertulia.users.model import Account
from tertulia.users.passwords import hash_password
from tertulia.users.rules import (
    check_is_owner,
    check_may_edit,
    check_role_change,
    clean_full_name,
    is_email,
    name_key_of,
    no_such_user,
)


async def create_user(
    tx: Transaction,
    realm_id: int,
    email: str,
    full_name: str,
    role: int = Role.MEMBER,
    *,
    password: str | None = None,
    password_hash: str | None = None,
    bot_type: int | None = None,
    bot_owner_id: int | None = None,
) -> int:
    """Make an account and tell the realm; its id. Hashing takes long: who holds locks gives the hash of the password."""
    email, full_name = email.strip(), clean_full_name(full_name)
    if not is_email(email):
        raise Refusal("That is not an email address.")
    stored = await hash_password(password) if password is not None else password_hash
    try:
        user_id = await queries.insert_user(tx, realm_id, email, full_name, role, (bot_type, bot_owner_id), stored)
    except asyncpg.UniqueViolationError as error:
        raise Refusal("Email is already in use.") from error
    # Nobody else knows the account before the commit, so nothing needs to be held. It must not: whoever subscribes the
    # newcomer takes alone what would be shared here, and two at once would wait for each other.
    to = await events.those_who_know_now(tx, realm_id, user_id)
    person = await queries.get_person(tx, user_id)
    tx.emit(realm_id, events.added(to, person))
    if not to.realm:
        tx.emit(realm_id, events.unknown_added(Audience(realm=True, without=to), user_id, person.subdomain))
    await tell_role_change(tx, realm_id, user_id, None, role)
    return user_id


async def create_api_key(tx: Transaction, user_id: int, label: str = "") -> str:
    """Make one more key for a user. This is the only moment the key itself is known."""
    key = new_api_key()
    await queries.insert_api_key(tx, user_id, digest_of_key(key), label[:100])
    return key


class Changes(msgspec.Struct, frozen=True):
    """What is to be another about a user; None: as it is."""

    full_name: str | None = None
    role: int | None = None
    email: str | None = None


async def change_user(tx: Transaction, caller: Caller, user_id: int, changes: Changes) -> None:
    """Change a user as an administrator or a bot's owner, and tell who may know."""
    ids = (caller.user_id, user_id)
    held = await queries.lock_accounts(tx, caller.realm_id, ids, owners=changes.role is not None)
    actor, target = get_both(held, caller.user_id, user_id)
    check_may_edit(actor, target)
    role = target.role if changes.role is None else changes.role
    if role != target.role:
        check_role_change(actor, target, role, held.values())
    name = await _new_name(tx, caller, target, changes.full_name)
    email = await _new_email(tx, caller.realm_id, actor, target, changes.email)
    if (name, role, email) == (target.full_name, target.role, target.email):
        return
    try:
        await queries.update_user(tx, target.id, name, role, email)
    except asyncpg.UniqueViolationError as error:
        raise Refusal("Email is already in use.") from error
    await _tell(tx, caller, target, name, role, email)


async def _new_name(tx: Transaction, caller: Caller, target: Account, wanted: str | None) -> str:
    if wanted is None or not wanted.strip():
        return target.full_name
    name = clean_full_name(wanted)
    if name != target.full_name:
        await check_name_free(tx, caller, name, target.id)
    return name


async def check_name_free(tx: Transaction, caller: Caller, name: str, user_id: int | None = None) -> None:
    """Refuse a name that somebody has, where the organization wants unique ones."""
    if decode_settings(caller.realm_settings).require_unique_names and await queries.has_namesake(
        tx, caller.realm_id, name_key_of(name), user_id
    ):
        raise Refusal("Unique names required in this organization.")


async def _new_email(tx: Transaction, realm_id: int, actor: Account, target: Account, wanted: str | None) -> str:
    """Whoever controls the address controls the account, so only owners may change that of somebody else."""
    if wanted is None or wanted.strip() == target.email:
        return target.email
    check_is_owner(actor)
    if not is_email(wanted.strip()):
        raise Refusal("That is not an email address.")
    if not target.is_bot:
        await check_address_allowed(tx, realm_id, wanted)
    return wanted.strip()


async def _tell(tx: Transaction, caller: Caller, target: Account, name: str, role: int, email: str) -> None:
    realm_id, user_id = caller.realm_id, target.id
    to = await events.those_who_know(tx, realm_id, user_id)
    if name != target.full_name:
        tx.emit(realm_id, events.updated(to, user_id, full_name=name))
    if email != target.email:
        tell_address(tx, realm_id, to, target, email)
    if role != target.role:
        # Another role sees other things: the user's own queues end, and their clients ask for the state again.
        tx.emit(realm_id, events.updated(to, user_id, ends=(user_id,), role=role))
        if target.is_active:
            await tell_role_change(tx, realm_id, user_id, target.role, role)


def tell_address(tx: Transaction, realm_id: int, to: Audience, target: Account, email: str) -> None:
    """Tell of a new address, after it was stored."""
    visibility = EVERYONE if target.is_bot else target.email_visibility
    tx.emit(realm_id, events.address_changed(to, target.id, email, visibility))
    if visibility == EVERYONE:
        tx.emit(realm_id, events.updated(to, target.id, new_email=email))


async def tell_visibility(tx: Transaction, caller: Caller, old: int, new: int) -> None:
    """Tell of a changed `email_address_visibility` of the caller's account, after it was stored."""
    realm_id, user_id = caller.realm_id, caller.user_id
    to = await events.those_who_know(tx, realm_id, user_id)
    tx.emit(realm_id, events.address_changed(to, user_id, caller.email, new))
    if (old == EVERYONE) != (new == EVERYONE):
        shown = caller.email if new == EVERYONE else fake_email(user_id, caller.fake_domain)
        tx.emit(realm_id, events.updated(to, user_id, new_email=shown))


def get_both(held: dict[int, Account], actor_id: int, target_id: int) -> tuple[Account, Account]:
    """The actor and the target as they are now; refuses if one of them is gone."""
    actor, target = held.get(actor_id), held.get(target_id)
    if target is None:
        raise no_such_user()
    if actor is None or not actor.is_active:
        raise Refusal("Insufficient permission")
    return actor, target
