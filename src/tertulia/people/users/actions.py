"""What can be done to users: making and changing them. Taking their access away and giving it back: activation.py."""

import asyncpg
import msgspec

from tertulia.events.log.record import Audience
from tertulia.kernel.auth import EVERYONE, Caller, DirectoryClient, Role, fake_email
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal, Taken
from tertulia.kernel.ids import digest_of_key, new_api_key
from tertulia.organization.audit_log import Act, Change, Proved, Word, note, user
from tertulia.organization.groups.actions import tell_role_change
from tertulia.organization.realms.domains.actions import check_address_allowed
from tertulia.organization.realms.settings import settings_of
from tertulia.people.users import events, queries
from tertulia.people.users.access import check_seen
from tertulia.people.users.addresses import id_of_fake_email
from tertulia.people.users.arrival import Arrival, Newcomer
from tertulia.people.users.authentication.holding import hold_access, hold_credential
from tertulia.people.users.authentication.queries import insert_api_key
from tertulia.people.users.erased import check_not_erased
from tertulia.people.users.model import MAX_KEYS, Account, KeyOrigin
from tertulia.people.users.rules import (
    address_taken,
    check_may_change_address,
    check_may_edit,
    check_role_change,
    clean_full_name,
    counted_role,
    is_email,
    is_last_owner,
    no_such_user,
)


async def make_person(
    tx: Transaction, caller: Caller, arrival: Arrival, email: str, full_name: str, *, password_hash: str | None = None
) -> int:
    """Make an account for somebody, as an administrator or as a directory, which has none; returns its id. It is subscribed
    to the default channels."""
    check_not_fake(email, caller)
    await check_address_allowed(tx, caller.realm_id, email)
    await check_name_free(tx, caller, full_name)
    reception = await arrival.hold(tx, caller.realm_id, Newcomer(email, is_made=True))
    if not isinstance(caller, DirectoryClient):
        await hold_access(tx, caller)
    user_id = await create_user(tx, caller.realm_id, email, full_name, password_hash=password_hash)
    await arrival.welcome(tx, caller.realm_id, user_id, reception)
    return user_id


def check_not_fake(email: str, caller: Caller) -> None:
    """Refuse addresses that stand for hidden ones."""
    if id_of_fake_email(email, caller.fake_domain) is not None:
        raise Refusal("Addresses of this form are kept for accounts that hide their own.")


async def create_user(
    tx: Transaction,
    realm_id: int,
    email: str,
    full_name: str,
    role: int = Role.MEMBER,
    *,
    password_hash: str | None = None,
    bot_type: int | None = None,
    bot_owner_id: int | None = None,
    language: str | None = None,
) -> int:
    """Make an account and tell the realm; returns its id. `language` is what its holder asked for."""
    tx.respect_freeze()  # whoever logs in for the first time may be given an account: not while it is being moved
    email, full_name = email.strip(), clean_full_name(full_name)
    if not is_email(email):
        raise Refusal("That is not an email address.")
    try:
        user_id = await queries.insert_user(
            tx, realm_id, email, full_name, role, (bot_type, bot_owner_id), password_hash, language
        )
    except asyncpg.UniqueViolationError as error:
        raise address_taken() from error
    # Nobody else knows the account before the commit, so nothing needs to be held. It must not: whoever subscribes the
    # newcomer takes alone what would be shared here, and two at once would wait for each other.
    to = await events.those_who_know_now(tx, realm_id, user_id)
    person = await queries.get_person(tx, user_id)
    tx.emit(realm_id, events.added(to, person))
    if not to.realm:
        tx.emit(realm_id, events.unknown_added(Audience(realm=True, without=to), user_id, person.subdomain))
    await tell_role_change(tx, realm_id, user_id, None, role)
    _note_created(tx, realm_id, user_id, Newborn(email, full_name, role, bot_type, bot_owner_id))
    return user_id


class Newborn(msgspec.Struct, frozen=True):
    """An account as it is made."""

    email: str
    full_name: str
    role: int
    bot_type: int | None
    bot_owner_id: int | None


def _note_created(tx: Transaction, realm_id: int, user_id: int, new: Newborn) -> None:
    act = Act.USER_CREATED if new.bot_type is None else Act.BOT_CREATED
    facts: dict[str, Change] = {
        name: (None, value) for name, value in msgspec.structs.asdict(new).items() if value is not None
    }
    note(tx, realm_id, act, user(user_id), Proved(user_id), **facts)


async def create_api_key(
    tx: Transaction, user_id: int, label: str = "", made_by: KeyOrigin = KeyOrigin.OPERATOR
) -> str:
    """Make one more key for a user. This is the only moment the key itself is known."""
    key = new_api_key()
    if not await queries.hold_active_account(tx, user_id):
        raise Refusal("This account is deactivated.")  # a key that is made now would open it when it comes back
    made = await insert_api_key(tx, user_id, digest_of_key(key), label[:100], made_by)
    if made is None:
        raise Refusal(f"An account has at most {MAX_KEYS} API keys: revoke one that is not in use.")
    key_id, realm_id = made
    facts: dict[str, Change] = {"key": (None, key_id), "label": (None, label[:100]), "made_by": (None, Word(made_by))}
    note(tx, realm_id, Act.KEY_MADE, user(user_id), Proved(user_id, key_id=key_id), **facts)
    return key


class Changes(msgspec.Struct, frozen=True):
    """What is to be another about a user; None: as it is."""

    full_name: str | None = None
    role: int | None = None
    email: str | None = None


async def change_user(tx: Transaction, caller: Caller, user_id: int, changes: Changes) -> None:
    """Change a user as an administrator or a bot's owner, and tell who may know."""
    await check_seen(tx, caller, user_id)
    gets_role = changes.role is not None
    # Whoever is a bot stays one, and never is the only owner: those who are go on meanwhile.
    before = await queries.find_account(tx, user_id) if gets_role else None
    is_person = before is not None and not before.is_bot
    held = await hold_both(tx, caller, user_id, owners=is_person, changes_standing=gets_role)
    actor, target = get_both(held, caller.user_id, user_id)
    owner = held.get(target.bot_owner_id or 0)
    check_may_edit(actor, target, owner)
    await check_not_erased(tx, target.id)
    if gets_role or changes.email is not None:
        await hold_credential(tx, caller)  # what it gives away outlives the session
    given = target.given_role if changes.role is None else changes.role
    if given != target.given_role:
        check_role_change(actor, target, given, held.values(), owner)
    name = await _new_name(tx, caller, target, changes.full_name)
    email = await _new_email(tx, caller, actor, target, changes.email)
    if (name, given, email) == (target.full_name, target.given_role, target.email):
        return
    await _write(tx, target, name, given, email)
    _note_changed(tx, caller.realm_id, target, name, given, email)
    role = counted_role(given, owner.role if owner else None) if target.is_bot else given
    await _tell(tx, caller.realm_id, target, name, role, email)


async def change_by_directory(
    tx: Transaction, realm_id: int, user_id: int, changes: Changes, *, unique_names: bool = False
) -> bool:
    """Change an active person as the directory of the organization says, and tell who may know; returns whether it made a
    difference. Nobody becomes an owner by that, nor does an owner become anything else."""
    gets_role = changes.role is not None
    held = await queries.lock_accounts(tx, realm_id, [user_id], tied_to=user_id, changes_standing=gets_role)
    target = held.get(user_id)
    if target is None or target.is_bot or not target.is_active:
        return False
    name = target.full_name if changes.full_name is None else clean_full_name(changes.full_name)
    email = target.email if changes.email is None else changes.email.strip()
    role = target.role if changes.role is None or Role.OWNER in (changes.role, target.role) else changes.role
    if not is_email(email):
        raise Refusal("That is not an email address.")
    if (name, role, email) == (target.full_name, target.role, target.email):
        return False
    if unique_names and name != target.full_name and await queries.has_namesake(tx, realm_id, name, user_id):
        raise Taken("Unique names required in this organization.")
    await _write(tx, target, name, role, email)
    _note_changed(tx, realm_id, target, name, role, email)
    await _tell(tx, realm_id, target, name, role, email)
    return True


async def give_role(tx: Transaction, realm_id: int, user_id: int, role: int) -> bool:
    """Give a person a role as the operator, who may make owners; returns whether they had another one. One owner stays."""
    held = await queries.lock_accounts(tx, realm_id, [user_id], owners=True, tied_to=user_id, changes_standing=True)
    target = held.get(user_id)
    if target is None or target.is_bot:
        raise no_such_user()
    await check_not_erased(tx, target.id)
    if role == target.given_role:
        return False
    if is_last_owner(target, held.values()):
        raise Refusal("The organization would have no owner any more.")
    await _write(tx, target, target.full_name, role, target.email)
    _note_changed(tx, realm_id, target, target.full_name, role, target.email)
    await _tell(tx, realm_id, target, target.full_name, role, target.email)
    return True


async def _write(tx: Transaction, target: Account, name: str, role: int, email: str) -> None:
    await queries.update_user(tx, target.id, name, role)
    if email != target.email:
        try:
            await queries.set_email(tx, target.id, email)
        except asyncpg.UniqueViolationError as error:
            raise address_taken() from error


def _note_changed(tx: Transaction, realm_id: int, target: Account, name: str, role: int, email: str) -> None:
    if name != target.full_name:
        note(tx, realm_id, Act.USER_CHANGED, user(target.id), full_name=(target.full_name, name))
    if role != target.given_role:
        note(tx, realm_id, Act.USER_ROLE_CHANGED, user(target.id), role=(target.given_role, role))
    if email != target.email:
        note(tx, realm_id, Act.USER_EMAIL_CHANGED, user(target.id), email=(target.email, email))


async def _new_name(tx: Transaction, caller: Caller, target: Account, wanted: str | None) -> str:
    if wanted is None or not wanted.strip():
        return target.full_name
    name = clean_full_name(wanted)
    if name != target.full_name:
        await check_name_free(tx, caller, name, target.id)
    return name


async def check_name_free(tx: Transaction, caller: Caller, name: str, user_id: int | None = None) -> None:
    """Refuse a name that somebody has, where the organization wants unique ones."""
    if settings_of(caller).require_unique_names and await queries.has_namesake(tx, caller.realm_id, name, user_id):
        raise Taken("Unique names required in this organization.")


async def _new_email(tx: Transaction, caller: Caller, actor: Account, target: Account, wanted: str | None) -> str:
    """Their own address people change as everybody does, with the password and by mail; their bots do not do it for them."""
    if wanted is None or wanted.strip() == target.email:
        return target.email
    check_may_change_address(caller, actor, target)
    if not is_email(wanted.strip()):
        raise Refusal("That is not an email address.")
    if not target.is_bot:
        await check_address_allowed(tx, caller.realm_id, wanted)
    return wanted.strip()


async def _tell(tx: Transaction, realm_id: int, target: Account, name: str, role: int, email: str) -> None:
    user_id = target.id
    to = await events.those_who_know(tx, realm_id, user_id)
    if name != target.full_name:
        tx.emit(realm_id, events.updated(to, user_id, full_name=name))
    if email != target.email:
        tell_address(tx, realm_id, to, target, email)
    if role != target.role:
        await tell_role(tx, realm_id, target, role)
        for bot in [] if target.is_bot else await queries.bots_of(tx, user_id):
            before = counted_role(bot.given_role, target.role)
            await tell_role(tx, realm_id, msgspec.structs.replace(bot, role=before), bot.role)


async def tell_role(tx: Transaction, realm_id: int, target: Account, role: int) -> None:
    """Tell of another role that an account counts as, after it was stored; `target` is as it was before."""
    if role == target.role:
        return
    to = await events.those_who_know(tx, realm_id, target.id)
    # Another role sees other things: the user's own queues end, and their clients ask for the state again.
    tx.emit(realm_id, events.updated(to, target.id, ends=(target.id,), role=role))
    if target.is_active:
        await tell_role_change(tx, realm_id, target.id, target.role, role)


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


async def hold_both(
    tx: Transaction, caller: Caller, user_id: int, *, owners: bool = False, changes_standing: bool = False
) -> dict[int, Account]:
    """Hold whoever acts and whom they act upon, with what is tied to the latter; `owners`: and all owners.

    A directory has no account: among those who are held it counts as an administrator.
    """
    ids = (caller.user_id, user_id)
    held = await queries.lock_accounts(
        tx, caller.realm_id, ids, owners=owners, tied_to=user_id, changes_standing=changes_standing
    )
    if isinstance(caller, DirectoryClient):
        held[caller.user_id] = Account(
            caller.user_id, caller.email, caller.full_name, caller.role, caller.bot_type, None, True, EVERYONE
        )
    return held


def get_both(held: dict[int, Account], actor_id: int, target_id: int) -> tuple[Account, Account]:
    """The actor and the target as they are now; refuses if one of them is gone."""
    actor, target = held.get(actor_id), held.get(target_id)
    if target is None:
        raise no_such_user()
    if actor is None or not actor.is_active:
        raise Refusal("Insufficient permission")
    return actor, target
