"""What can be done to bots."""

import asyncpg
import msgspec

from tertulia.kernel.auth import EVERYONE, BotType, Caller, Role, fake_email
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import new_api_key
from tertulia.organization.audit_log import Act, note, user
from tertulia.organization.groups.rights import holds
from tertulia.people.avatars import set_avatar
from tertulia.people.bots import events, queries
from tertulia.people.bots.bounds import BOTS, GIVEN_BOTS
from tertulia.people.bots.defaults import HeldDefaults, change_defaults, tell_changed
from tertulia.people.bots.model import ChangedBot, NewBot, Service
from tertulia.people.bots.rules import (
    bot_email,
    check_new_owner,
    check_reads_by,
    check_type,
    check_url,
    no_such_bot,
    rights_for,
)
from tertulia.people.users import queries as users_queries
from tertulia.people.users.actions import Changes, change_user, create_api_key, create_user, tell_address
from tertulia.people.users.activation import turn_off
from tertulia.people.users.authentication.holding import hold_access, hold_credential
from tertulia.people.users.authentication.revocation import end_keys
from tertulia.people.users.events import those_who_know
from tertulia.people.users.handover import BotHandover, hand_over
from tertulia.people.users.model import Account, KeyOrigin
from tertulia.people.users.notices import tell_former_owner, tell_new_owner, tell_owner
from tertulia.people.users.rules import check_may_edit, clean_full_name

NOWHERE = ""
"""The address of an outgoing webhook that was given to somebody who has not said one yet."""


class BotRequest(msgspec.Struct, frozen=True):
    """A bot to be made."""

    full_name: str
    short_name: str
    bot_type: int
    payload_url: str | None
    interface: int
    avatar: str | None = None
    """The name of a stored picture."""


async def create_bot(tx: Transaction, caller: Caller, draft: BotRequest, defaults: HeldDefaults) -> NewBot:
    """Make a bot of the caller's, with its first key."""
    check_type(draft.bot_type)
    await hold_access(tx, caller)
    if not any([await holds(tx, caller, right) for right in rights_for(draft.bot_type)]):
        raise Refusal("Insufficient permission")
    email, service = bot_email(draft.short_name, caller.fake_domain), _service_of(draft)
    await _check_name_free(tx, caller, clean_full_name(draft.full_name))
    await check_room(tx, BOTS, caller.user_id)
    bot_id = await create_user(
        tx, caller.realm_id, email, draft.full_name, bot_type=draft.bot_type, bot_owner_id=caller.user_id
    )
    if service is not None:
        await queries.put_service(tx, bot_id, service)
    await change_defaults(tx, bot_id, defaults)
    if draft.avatar is not None:
        await set_avatar(tx, caller.realm_id, bot_id, draft.avatar)
    key = await create_api_key(tx, bot_id, "first key", KeyOrigin.OWNER)
    to = await queries.administrator_ids(tx, caller.realm_id) | {caller.user_id}
    bot = await queries.get_bot(tx, bot_id)
    for told in events.added(to, bot, caller.user_id):
        tx.emit(caller.realm_id, told)
    given = (bot.default_sending_stream, bot.default_events_register_stream, bot.default_all_public_streams)
    return NewBot(bot_id, key, await queries.avatar_of(tx, bot_id), *given)


def _service_of(draft: BotRequest) -> Service | None:
    if draft.bot_type != BotType.OUTGOING_WEBHOOK:
        return None
    if draft.payload_url is None:
        raise Refusal("payload_url is missing: an outgoing webhook needs to know where to.")
    return Service(check_url(draft.payload_url), draft.interface, token=new_api_key())


class BotChanges(msgspec.Struct, frozen=True):
    """What is to be another about a bot; None: as it is."""

    full_name: str | None = None
    role: int | None = None
    owner_id: int | None = None
    payload_url: str | None = None
    interface: int | None = None
    short_name: str | None = None
    defaults: HeldDefaults = HeldDefaults()
    avatar: str | None = None


async def change_bot(
    tx: Transaction, caller: Caller, bot_id: int, changes: BotChanges, handover: BotHandover
) -> ChangedBot:
    """Change a bot as its owner or an administrator, and tell who may know; how it is now."""
    if changes.owner_id is not None:
        await handover.hold(tx, bot_id)
    others = [] if changes.owner_id is None else [changes.owner_id]
    changes_standing = changes.role is not None or changes.owner_id is not None
    bot, held = await _hold(
        tx, caller, bot_id, *others, owners=changes.role is not None, changes_standing=changes_standing
    )
    if changes.payload_url is not None:
        check_reads_by(caller.user_id, bot)
        if changes.owner_id not in (None, bot.bot_owner_id) and caller.role > Role.ADMINISTRATOR:
            raise Refusal(
                "Where the bot sends what it hears is for its new owner to say: leave service_payload_url out."
            )
    if changes.full_name is not None and changes.full_name.strip() not in ("", bot.full_name):
        await _check_name_free(tx, caller, clean_full_name(changes.full_name), bot.id)
    await change_user(tx, caller, bot.id, Changes(full_name=changes.full_name, role=changes.role))
    if changes.avatar is not None:
        await set_avatar(tx, caller.realm_id, bot.id, changes.avatar)
        note(tx, caller.realm_id, Act.BOT_CHANGED, user(bot.id), avatar=(None, None))
    if changes.short_name is not None:
        await _change_address(tx, caller, bot, bot_email(changes.short_name, caller.fake_domain))
    owner = held.get(bot.bot_owner_id or 0)
    if changes.owner_id is not None and changes.owner_id != bot.bot_owner_id:
        new_owner = check_new_owner(held.get(changes.owner_id))
        await _give(tx, caller, bot, owner, new_owner, handover)
        owner = new_owner
    if changes.payload_url is not None or changes.interface is not None:
        await _change_service(tx, caller, bot, owner, changes)
    if changed := await change_defaults(tx, bot.id, changes.defaults):
        await tell_changed(tx, caller.realm_id, bot.id, owner.id if owner else None, changed)
        note(tx, caller.realm_id, Act.BOT_CHANGED, user(bot.id), **{name: (None, now) for name, now in changed.items()})
    return await _as_changed(tx, caller, bot, owner, changes)


async def _change_address(tx: Transaction, caller: Caller, bot: Account, email: str) -> None:
    """A bot's address follows from its short name. Its keys stay good, with the new address."""
    if email == bot.email:
        return
    try:
        await users_queries.set_email(tx, bot.id, email)
    except asyncpg.UniqueViolationError as error:
        raise Refusal("Email is already in use.") from error
    note(tx, caller.realm_id, Act.USER_EMAIL_CHANGED, user(bot.id), email=(bot.email, email))
    tell_address(tx, caller.realm_id, await those_who_know(tx, caller.realm_id, bot.id), bot, email)


async def _give(
    tx: Transaction, caller: Caller, bot: Account, old: Account | None, new: Account, handover: BotHandover
) -> None:
    """Give a bot to somebody else."""
    now = await users_queries.find_account(tx, bot.id)
    assert now is not None  # its name and role may have changed in this very call
    await _check_room_for_bot(tx, caller, new)
    url = await _address_after(tx, caller, bot)
    await hand_over(tx, caller.realm_id, now, new.id, handover)
    await tell_former_owner(tx, caller, now, old, new)
    await tell_new_owner(tx, caller, now, new, url)
    if old is not None and old.role > Role.ADMINISTRATOR:
        tx.emit(caller.realm_id, events.lost([old.id], bot.id))
    if new.role > Role.ADMINISTRATOR:
        for told in events.added([new.id], await queries.get_bot(tx, bot.id, seen_by=new.id), new.id):
            tx.emit(caller.realm_id, told)


async def _check_room_for_bot(tx: Transaction, caller: Caller, owner: Account) -> None:
    if caller.role > Role.ADMINISTRATOR:
        await check_room(tx, GIVEN_BOTS, owner.id)
    try:
        await check_room(tx, BOTS, owner.id)
    except Refusal:
        raise Refusal("Failed to change owner, they have as many bots as one person may have") from None


async def _address_after(tx: Transaction, caller: Caller, bot: Account) -> str | None:
    """Where a given bot sends what it hears; None: it does not. Whoever gave it could go on listening at their own address,
    so that goes unless an administrator gives the bot."""
    services = (await queries.get_bot(tx, bot.id)).services
    if not services:
        return None
    if caller.role <= Role.ADMINISTRATOR or not services[0].base_url:
        return services[0].base_url
    await queries.put_service(tx, bot.id, msgspec.structs.replace(services[0], base_url=NOWHERE))
    note(tx, caller.realm_id, Act.BOT_CHANGED, user(bot.id), payload_url=(None, None))
    return NOWHERE


async def _change_service(
    tx: Transaction, caller: Caller, bot: Account, owner: Account | None, changes: BotChanges
) -> None:
    now = await queries.get_bot(tx, bot.id)
    if not now.services:
        raise Refusal("Only outgoing webhooks have a payload URL and an interface.")
    [service] = now.services
    url = service.base_url if changes.payload_url is None else check_url(changes.payload_url)
    changed = Service(url, changes.interface or service.interface, service.token)
    if changed == service:
        return
    await queries.put_service(tx, bot.id, changed)
    # The address may have a secret in it: that it changed is enough.
    interface = (service.interface, changed.interface)
    note(tx, caller.realm_id, Act.BOT_CHANGED, user(bot.id), payload_url=(None, None), interface=interface)
    to = await queries.administrator_ids(tx, caller.realm_id) | ({owner.id} if owner else set())
    for told in events.services_changed(to, await queries.get_bot(tx, bot.id), owner.id if owner else None):
        tx.emit(caller.realm_id, told)


async def _as_changed(
    tx: Transaction, caller: Caller, bot: Account, owner: Account | None, changes: BotChanges
) -> ChangedBot:
    now = await queries.get_bot(tx, bot.id, seen_by=caller.user_id)
    services = now.services
    name = changes.full_name.strip() if changes.full_name and changes.full_name.strip() else bot.full_name
    answer = ChangedBot(
        full_name=name,
        avatar_url=await queries.avatar_of(tx, bot.id),
        default_sending_stream=now.default_sending_stream,
        default_events_register_stream=now.default_events_register_stream,
        default_all_public_streams=now.default_all_public_streams,
    )
    if owner is not None:
        hidden = owner.email_visibility != EVERYONE
        answer.bot_owner = fake_email(owner.id, caller.fake_domain) if hidden else owner.email
    if services:
        answer.service_payload_url, answer.service_interface = services[0].base_url, services[0].interface
    return answer


async def deactivate_bot(tx: Transaction, caller: Caller, bot_id: int) -> None:
    """Turn a bot off: its keys and queues end."""
    bot, _ = await _hold(tx, caller, bot_id, changes_standing=True)
    if not bot.is_active:
        raise Refusal("The bot is deactivated already.")
    await turn_off(tx, caller.realm_id, [bot])


async def regenerate_key(tx: Transaction, caller: Caller, bot_id: int) -> str:
    """Make an API key of a bot that replaces all it has, as its owner."""
    bot, _ = await _hold(tx, caller, bot_id)
    check_reads_by(caller.user_id, bot)
    if not bot.is_active:
        raise Refusal("The bot is deactivated.")
    await end_keys(tx, bot.id)
    key = await create_api_key(tx, bot.id, f"for {caller.full_name}", KeyOrigin.OWNER)
    await tell_owner(tx, caller.realm_id, bot.id, "owner")
    return key


async def refuse_key(tx: Transaction, caller: Caller, bot_id: int) -> Refusal:
    """What is answered to whoever wants to read a bot's key."""
    bot, _ = await _hold(tx, caller, bot_id)
    check_reads_by(caller.user_id, bot)
    return Refusal(
        "A bot's API key is shown once, when it is made: only a digest of it is stored. "
        f"POST /bots/{bot.id}/api_key/regenerate makes a new one, which replaces it."
    )


async def hold_bot(tx: Transaction, caller: Caller, bot_id: int) -> Account:
    """A bot that the caller may change, for what other features keep about it."""
    bot, _ = await _hold(tx, caller, bot_id)
    return bot


async def _hold(
    tx: Transaction, caller: Caller, bot_id: int, *others: int, owners: bool = False, changes_standing: bool = False
) -> tuple[Account, dict[int, Account]]:
    """A bot that the caller may change, locked together with everybody concerned."""
    ids = [caller.user_id, bot_id, *others]
    held = await users_queries.lock_accounts(
        tx, caller.realm_id, ids, owners=owners, tied_to=bot_id, changes_standing=changes_standing
    )
    bot, actor = held.get(bot_id), held.get(caller.user_id)
    if bot is None or not bot.is_bot:
        raise no_such_bot()
    if actor is None or not actor.is_active:
        raise Refusal("Insufficient permission")
    await hold_credential(tx, caller)
    check_may_edit(actor, bot, held.get(bot.bot_owner_id or 0))
    return bot, held


async def _check_name_free(tx: Transaction, caller: Caller, name: str, bot_id: int | None = None) -> None:
    if await users_queries.has_namesake(tx, caller.realm_id, name, bot_id):
        raise Refusal("Name is already in use.")
