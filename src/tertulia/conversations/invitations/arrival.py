"""Newcomers: what an invitation, or none, gives them. Tied in as the `Arrival` of the users feature."""

import msgspec

from tertulia.content.markup.writing import Mention, Written, worded
from tertulia.conversations.channels import statements
from tertulia.conversations.channels.actions.defaults import hold_defaults
from tertulia.conversations.channels.actions.defaults import welcome as subscribe_newcomer
from tertulia.conversations.channels.queries import ruled_channels
from tertulia.conversations.invitations import queries
from tertulia.conversations.invitations.model import Terms
from tertulia.conversations.invitations.rules import INVITES_BY_LINK, INVITES_BY_MAIL, bad_key, may_invite_as
from tertulia.conversations.invitations.words import words_of
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.ids import digest_of_key
from tertulia.organization.groups.events import tell_members
from tertulia.organization.groups.queries import find_group
from tertulia.organization.groups.rights import holds, may_in_group
from tertulia.organization.groups.rules import GroupAction
from tertulia.organization.groups.statements import insert_members, lock_groups
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import language_of
from tertulia.organization.realms.queries import get_realm, hold_role
from tertulia.people.users.account_mails import AccountMails
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.arrival import Arrival, Newcomer, Reception
from tertulia.people.users.authentication.queries import get_owner
from tertulia.people.users.events import tell_invites


async def find_good_terms(reader: Reader, realm_id: int, key: str) -> Terms | None:
    """What a key stands for, if whoever stands behind it may still give that."""
    terms = await queries.find_terms(reader, realm_id, digest_of_key(key))
    if terms is None or terms.inviter_role is None:
        # Nobody's invitation: an address was confirmed where everybody may join.
        is_open = terms is not None and not (await get_realm(reader, realm_id)).settings.invite_required
        return terms if is_open else None
    return terms if await _may_give(reader, terms) else None


async def hold(tx: Transaction, realm_id: int, who: Newcomer) -> Reception:
    """What awaits a newcomer, by the invitation they came with, or the last one to their address."""
    terms = await _terms_for(tx, realm_id, who)
    if terms is None or terms.inviter_id is None:
        return Reception(email=who.email, channels=tuple(await hold_defaults(tx, realm_id)))
    if terms.group_ids:
        await lock_groups(tx, realm_id)
    channels = await _hold_channels(tx, realm_id, terms)
    role = await hold_role(tx, terms.inviter_id)
    if role is None or not await _may_give(tx, terms):
        raise bad_key()
    return Reception(
        email=who.email,
        role=terms.invited_as,
        channels=channels,
        groups=await _groups(tx, realm_id, terms),
        invitation_id=terms.invitation_id,
        inviter_id=terms.inviter_id,
        tells_inviter=terms.tells_inviter,
    )


async def welcome(tx: Transaction, realm_id: int, user_id: int, reception: Reception) -> None:
    """Give a newcomer what was held for them, and use the invitation up."""
    await subscribe_newcomer(tx, realm_id, user_id, reception.channels)
    for group_id in reception.groups:
        await insert_members(tx, realm_id, group_id, [user_id])
        await tell_members(tx, realm_id, "add_members", group_id, [user_id])
    ended = await queries.end_of_address(tx, realm_id, email_key_of(reception.email))
    if reception.invitation_id is not None:
        is_used = any(one.id == reception.invitation_id and one.is_good for one in ended)
        if not is_used and not await queries.hold_link(tx, reception.invitation_id):
            raise bad_key()  # used or taken back while we looked
    if ended:
        await tell_invites(tx, realm_id, [one.inviter_id for one in ended])
    await tell(tx, realm_id, await _notices(tx, realm_id, user_id, reception))


async def _notices(reader: Reader, realm_id: int, user_id: int, reception: Reception) -> list[Notice]:
    """To the newcomer what the organization says to all of them, to the inviter that they came."""
    said = (await get_realm(reader, realm_id)).settings.welcome_message_custom_text.strip()
    notices = [Notice((Written(said),), user_id=user_id)] if said else []
    if reception.inviter_id is not None and reception.tells_inviter:
        name = await statements.name_of(reader, user_id)
        words = words_of(await language_of(reader, reception.inviter_id))
        text = worded(words.accepted, who=Mention(user_id, name))
        notices.append(Notice(text, user_id=reception.inviter_id))
    return notices


async def _terms_for(tx: Transaction, realm_id: int, who: Newcomer) -> Terms | None:
    if who.is_made:
        return None
    email_key = email_key_of(who.email)
    if who.key is not None:
        terms = await find_good_terms(tx, realm_id, who.key)
        if terms is None or (terms.email is not None and email_key_of(terms.email) != email_key):
            raise bad_key()
        return terms
    for terms in await queries.terms_of_address(tx, realm_id, email_key):
        if await _may_give(tx, terms):
            return terms
    return None


async def _may_give(reader: Reader, terms: Terms) -> bool:
    """Whether the inviter could invite in this way, and as this, now: roles and permissions may have changed since."""
    if terms.inviter_id is None:
        return False
    inviter = (await get_owner(reader, terms.inviter_id)).caller
    if terms.is_handed_over and inviter.role > Role.ADMINISTRATOR:
        return False
    right = INVITES_BY_LINK if terms.is_reusable else INVITES_BY_MAIL
    return may_invite_as(inviter.role, terms.invited_as) and await holds(reader, inviter, right)


async def _hold_channels(tx: Transaction, realm_id: int, terms: Terms) -> tuple[int, ...]:
    """The channels of an invitation that its inviter may still subscribe others to, and default ones."""
    asked = {*terms.channel_ids, *await statements.default_channels(tx, realm_id)}
    await statements.lock_conversations(tx, sorted(asked))
    defaults = set(await statements.default_channels(tx, realm_id)) & asked
    assert terms.inviter_id is not None
    offered = await offered_channels(tx, realm_id, terms.inviter_id, terms.channel_ids, defaults)
    return tuple(sorted({*offered, *(defaults if terms.with_defaults else ())}))


async def offered_channels(
    reader: Reader, realm_id: int, inviter_id: int, channel_ids: list[int], defaults: set[int]
) -> set[int]:
    """Those of the channels that somebody may invite to: they may subscribe others there, or everybody is anyway."""
    if not channel_ids:
        return set()
    found = await ruled_channels(reader, realm_id, inviter_id, channel_ids)
    return {
        channel.id
        for channel in found
        if not channel.is_archived and channel.may_read and (channel.may_add_subscribers or channel.id in defaults)
    }


async def _groups(tx: Transaction, realm_id: int, terms: Terms) -> tuple[int, ...]:
    """The groups of an invitation that are in use, and that its inviter may still add people to."""
    if not terms.group_ids or terms.inviter_id is None:
        return ()
    inviter = (await get_owner(tx, terms.inviter_id)).caller
    found = []
    for group_id in terms.group_ids:
        group = await find_group(tx, realm_id, group_id)
        is_usable = group is not None and not group.is_deactivated
        if group and is_usable and await may_in_group(tx, inviter, group, GroupAction.ADD_MEMBERS):
            found.append(group.id)
    return tuple(found)


ARRIVAL = Arrival(hold=hold, welcome=welcome)


def arrival_with(mails: AccountMails) -> Arrival:
    """All that awaits newcomers, and a mail that says so."""

    async def greet(tx: Transaction, realm_id: int, user_id: int, reception: Reception) -> None:
        await ARRIVAL.welcome(tx, realm_id, user_id, reception)
        await mails.welcome(tx, user_id)

    return msgspec.structs.replace(ARRIVAL, welcome=greet)
