"""Coming and going: accounts are turned off and on again, never deleted.

A deactivated account keeps its subscriptions, groups and messages, but is nowhere listed as active. Its keys stop with the
commit (nothing is cached), its browser sessions are deleted, its invitations are taken back, and its event queues end in
every process with the event.
"""

from collections.abc import Sequence

from tertulia.events.record import Audience, record
from tertulia.groups.actions import tell_role_change
from tertulia.groups.rights import check_holds
from tertulia.groups.sight import seers_of
from tertulia.kernel.auth import INCOMING_WEBHOOK_BOT, Caller, Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.realms.queries import lock_realm
from tertulia.users import events, queries
from tertulia.users.actions import check_name_free, get_both
from tertulia.users.model import Account
from tertulia.users.queries import Subscribers
from tertulia.users.rules import check_is_owner, check_may_edit, is_last_owner, last_user, no_such_user


async def deactivate_user(tx: Transaction, caller: Caller, user_id: int) -> None:
    """Turn a person's account off, as an administrator."""
    held = await queries.lock_accounts(tx, caller.realm_id, (caller.user_id, user_id), owners=True, bots_of=user_id)
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


async def deactivate_oneself(tx: Transaction, caller: Caller) -> None:
    """Turn the caller's own account off."""
    held = await queries.lock_accounts(tx, caller.realm_id, [caller.user_id], owners=True, bots_of=caller.user_id)
    _, target = get_both(held, caller.user_id, caller.user_id)
    if is_last_owner(target, held.values()):
        raise last_user(is_owner=True)
    await lock_realm(tx, caller.realm_id)  # two who go at once: the second one sees that the first is gone
    if not await queries.has_other_people(tx, caller.realm_id, caller.user_id):
        raise last_user(is_owner=False)
    await turn_off(tx, caller.realm_id, with_bots(held, target))


async def reactivate_user(tx: Transaction, caller: Caller, user_id: int) -> None:
    """Turn an account on again, as an administrator or the owner of a bot. It is no error if it is on."""
    held = await queries.lock_accounts(tx, caller.realm_id, [caller.user_id, user_id])
    actor, target = get_both(held, caller.user_id, user_id)
    if not target.is_bot and actor.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    check_may_edit(actor, target)
    if target.role == Role.OWNER:
        check_is_owner(actor)
    if target.is_active:
        return
    if target.is_bot:
        await _check_may_have_bot(tx, caller, target)
    await queries.set_active(tx, [target.id], active=True)
    channels = await queries.count_subscribers(tx, [target.id], 1)
    to = await events.those_who_know(tx, caller.realm_id, target.id)
    tx.emit(caller.realm_id, events.updated(to, target.id, is_active=True))
    await tell_role_change(tx, caller.realm_id, target.id, None, target.role)
    await _tell_channels(tx, caller.realm_id, "peer_add", channels)
    owner = await queries.find_account(tx, target.bot_owner_id) if target.is_bot else None
    if target.is_bot and (owner is None or not owner.is_active):
        await queries.set_bot_owner(tx, target.id, caller.user_id)
        tx.emit(caller.realm_id, events.updated(to, target.id, bot_owner_id=caller.user_id))


async def _check_may_have_bot(tx: Transaction, caller: Caller, bot: Account) -> None:
    """Whoever turns a bot on needs the right to make one."""
    is_webhook = bot.bot_type == INCOMING_WEBHOOK_BOT
    await check_holds(tx, caller, "can_create_write_only_bots_group" if is_webhook else "can_create_bots_group")
    await check_name_free(tx, caller, bot.full_name, bot.id)


def with_bots(held: dict[int, Account], target: Account) -> list[Account]:
    """A person after their active bots: a bot goes before its owner does."""
    return [*(one for one in held.values() if one.bot_owner_id == target.id and one.is_active), target]


async def turn_off(tx: Transaction, realm_id: int, accounts: Sequence[Account]) -> None:
    """Deactivate locked accounts and tell everybody whom it concerns."""
    ids = [account.id for account in accounts]
    await queries.set_active(tx, ids, active=False)
    channels = await queries.count_subscribers(tx, ids, -1)
    audiences = {id: await events.those_who_know(tx, realm_id, id) for id in ids}
    for account in accounts:
        told = events.updated(audiences[account.id], account.id, ends=(account.id,), is_active=False)
        tx.emit(realm_id, told)
        await tell_role_change(tx, realm_id, account.id, account.role, None)
    await _tell_channels(tx, realm_id, "peer_remove", channels)
    if inviters := await queries.revoke_invitations(tx, ids):
        await events.tell_invites(tx, realm_id, inviters)


async def _tell_channels(tx: Transaction, realm_id: int, op: str, channels: Sequence[Subscribers]) -> None:
    seers = await seers_of(tx, [channel.channel_id for channel in channels if channel.invite_only])
    for channel in channels:
        seeing = seers.get(channel.channel_id, ())
        to = Audience(members=not channel.invite_only, channel=channel.channel_id, users=seeing)
        event = {"op": op, "stream_ids": [channel.channel_id], "user_ids": channel.user_ids}
        tx.emit(realm_id, record(to, "subscription", event))
