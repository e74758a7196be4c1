"""Activation: accounts are deactivated and reactivated, never deleted.

A deactivated account keeps its subscriptions, groups and messages, but is nowhere listed as active. Its keys and browser
sessions end for good: they do not come back with the account. Its invitations are taken back, and its event queues end in
every process with the event.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import BotType, Caller, Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note, user
from tertulia.organization.groups.actions import tell_role_change
from tertulia.organization.groups.rights import check_holds
from tertulia.organization.groups.seers import TURN, seers_to_name
from tertulia.organization.realms.queries import lock_realm
from tertulia.people.users import events, queries
from tertulia.people.users.access import check_seen
from tertulia.people.users.actions import check_name_free, get_both, hold_both
from tertulia.people.users.authentication.revocation import end_access
from tertulia.people.users.erased import check_not_erased
from tertulia.people.users.handover import BotHandover, hand_over
from tertulia.people.users.model import Account
from tertulia.people.users.queries import Subscribers
from tertulia.people.users.rules import check_is_owner, check_may_edit, is_last_owner, last_user, no_such_user


async def deactivate_user(tx: Transaction, caller: Caller, user_id: int) -> Account:
    """Deactivate a person's account, as an administrator; returns it as it was."""
    held = await hold_both(tx, caller, user_id, owners=True, changes_standing=True)
    actor, target = get_both(held, caller.user_id, user_id)
    if target.is_bot:
        raise no_such_user()
    if actor.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    if not target.is_active:
        raise Refusal("User is deactivated")
    if target.role == Role.OWNER:
        check_is_owner(actor)
    if is_last_owner(target, held.values()):
        raise Refusal("Cannot deactivate the only organization owner")
    await turn_off(tx, caller.realm_id, with_bots(held, target))
    return target


async def deactivate_oneself(tx: Transaction, caller: Caller) -> None:
    """Deactivate the caller's own account."""
    held = await queries.lock_accounts(
        tx, caller.realm_id, [caller.user_id], owners=True, tied_to=caller.user_id, changes_standing=True
    )
    _, target = get_both(held, caller.user_id, caller.user_id)
    if is_last_owner(target, held.values()):
        raise last_user(is_owner=True)
    await lock_realm(tx, caller.realm_id)  # two who go at once: the second one sees that the first is gone
    if not await queries.has_other_people(tx, caller.realm_id, caller.user_id):
        raise last_user(is_owner=False)
    await turn_off(tx, caller.realm_id, with_bots(held, target))


async def deactivate_by_directory(tx: Transaction, realm_id: int, user_id: int) -> bool:
    """Deactivate a person whom the directory of the organization no longer has; returns whether they were active.

    The only owner stays: nobody could let anybody in again.
    """
    held = await queries.lock_accounts(tx, realm_id, [user_id], owners=True, tied_to=user_id, changes_standing=True)
    target = held.get(user_id)
    if target is None or target.is_bot or not target.is_active:
        return False
    if is_last_owner(target, held.values()):
        raise Refusal("Cannot deactivate the only organization owner")
    await turn_off(tx, realm_id, with_bots(held, target))
    return True


async def reactivate_by_operator(tx: Transaction, realm_id: int, user_id: int) -> bool:
    """Reactivate a person's account; returns whether they were not active. Their bots stay as they are."""
    target = (await queries.lock_accounts(tx, realm_id, [user_id], tied_to=user_id, changes_standing=True)).get(user_id)
    if target is None or target.is_bot or target.is_active:
        return False
    await _turn_on(tx, realm_id, target)
    return True


async def reactivate_user(tx: Transaction, caller: Caller, user_id: int, handover: BotHandover) -> None:
    """Reactivate an account, as an administrator or the owner of a bot. No error if it is active."""
    await check_seen(tx, caller, user_id)
    await handover.hold(tx, user_id)
    held = await hold_both(tx, caller, user_id, changes_standing=True)
    actor, target = get_both(held, caller.user_id, user_id)
    if not target.is_bot and actor.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    owner = held.get(target.bot_owner_id or 0)
    check_may_edit(actor, target, owner)
    if target.role == Role.OWNER:
        check_is_owner(actor)
    if target.is_active:
        return
    if target.is_bot:
        await _check_may_have_bot(tx, caller, target)
    await _turn_on(tx, caller.realm_id, target)
    if target.is_bot and (owner is None or not owner.is_active):
        if actor.is_bot:
            raise Refusal("The bot has no active owner. A person who reactivates it becomes its owner.")
        await hand_over(tx, caller.realm_id, msgspec.structs.replace(target, is_active=True), actor.id, handover)


async def _turn_on(tx: Transaction, realm_id: int, target: Account) -> None:
    await check_not_erased(tx, target.id)
    tx.allow_many_events()  # one for each channel that the account is in
    await queries.set_active(tx, [target.id], active=True)
    note(tx, realm_id, Act.USER_REACTIVATED, user(target.id), is_active=(False, True))
    channels = await queries.count_subscribers(tx, [target.id], 1)
    to = await events.those_who_know(tx, realm_id, target.id)
    tx.emit(realm_id, events.updated(to, target.id, is_active=True))
    await tell_role_change(tx, realm_id, target.id, None, target.role)
    await _tell_channels(tx, realm_id, "peer_add", channels)


async def _check_may_have_bot(tx: Transaction, caller: Caller, bot: Account) -> None:
    """Whoever reactivates a bot needs the right to make one."""
    is_webhook = bot.bot_type == BotType.INCOMING_WEBHOOK
    await check_holds(tx, caller, "can_create_write_only_bots_group" if is_webhook else "can_create_bots_group")
    await check_name_free(tx, caller, bot.full_name, bot.id)


def with_bots(held: dict[int, Account], target: Account) -> list[Account]:
    """A person after their active bots: a bot goes before its owner does."""
    return [*(one for one in held.values() if one.bot_owner_id == target.id and one.is_active), target]


async def turn_off(tx: Transaction, realm_id: int, accounts: Sequence[Account]) -> None:
    """Deactivate locked accounts and tell everybody whom it concerns."""
    tx.allow_many_events()  # some for each channel that they are in, and for each bot: nobody stays because of that
    ids = [account.id for account in accounts]
    await queries.set_active(tx, ids, active=False)
    await end_access(tx, ids)
    channels = await queries.count_subscribers(tx, ids, -1)
    audiences = {id: await events.those_who_know(tx, realm_id, id) for id in ids}
    for account in accounts:
        note(tx, realm_id, Act.USER_DEACTIVATED, user(account.id), is_active=(True, False))
        told = events.updated(audiences[account.id], account.id, ends=(account.id,), is_active=False)
        tx.emit(realm_id, told)
        await tell_role_change(tx, realm_id, account.id, account.role, None)
    await _tell_channels(tx, realm_id, "peer_remove", channels)
    if inviters := await queries.revoke_invitations(tx, ids):
        await events.tell_invites(tx, realm_id, inviters)


async def _tell_channels(tx: Transaction, realm_id: int, op: str, channels: Sequence[Subscribers]) -> None:
    seers = await seers_to_name(tx, realm_id, [channel.channel_id for channel in channels if channel.invite_only])
    for place, channel in enumerate(channels, 1):
        if place % TURN == 0:
            await asyncio.sleep(0)
        seeing = seers.get(channel.channel_id)
        to = Audience(members=seeing is None, channel=channel.channel_id, users=seeing or ())
        event = {"op": op, "stream_ids": [channel.channel_id], "user_ids": channel.user_ids}
        tx.emit(realm_id, record(to, "subscription", event))
