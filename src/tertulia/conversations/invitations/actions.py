"""Inviting people, and looking after invitations. Rights are those of the moment of the write."""

import secrets
from collections.abc import Mapping, Sequence

import msgspec

from tertulia.conversations.channels import statements
from tertulia.conversations.channels.access import get_ruled_channel
from tertulia.conversations.channels.rules import no_such_channel
from tertulia.conversations.invitations import queries
from tertulia.conversations.invitations.arrival import offered_channels
from tertulia.conversations.invitations.bounds import INVITATIONS
from tertulia.conversations.invitations.frequency import Spend
from tertulia.conversations.invitations.mails import join_url, send_invitation
from tertulia.conversations.invitations.model import Invite, Offer, PersonalLink
from tertulia.conversations.invitations.rules import (
    INVITES_BY_LINK,
    INVITES_BY_MAIL,
    KEY_BYTES,
    check_may_invite_as,
    may_invite_as,
    no_such_invitation,
)
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.organization.audit_log import Act, Change, note
from tertulia.organization.groups.access import get_group
from tertulia.organization.groups.rights import check_holds, check_may_in_group
from tertulia.organization.groups.rules import GroupAction
from tertulia.organization.realms.domains.actions import check_address
from tertulia.organization.realms.queries import Realm, address_rules, hold_role
from tertulia.people.users.addresses import email_key_of, id_of_fake_email
from tertulia.people.users.authentication.holding import hold_credential
from tertulia.people.users.events import tell_invites
from tertulia.people.users.rules import is_email

NOBODY_INVITED = "No invitations were sent."


class Failures(msgspec.Struct, frozen=True):
    """Addresses that got no invitation: each with the reason, and whether a deactivated account has it."""

    errors: list[tuple[str, str, bool]]
    sent: bool
    daily_limit_reached: bool = False

    def refusal(self) -> Refusal:
        """What the caller is told."""
        said = "The others were invited." if self.sent else NOBODY_INVITED
        why = "The organization has sent too many invitations today." if self.daily_limit_reached else ""
        return Refusal(
            f"{why or 'Some of these addresses cannot be invited.'} {said}",
            code="INVITATION_FAILED",
            errors=self.errors,
            sent_invitations=self.sent,
            license_limit_reached=False,
            daily_limit_reached=self.daily_limit_reached,
        )


async def invite(
    tx: Transaction,
    caller: Caller,
    realm: Realm,
    base: str,
    emails: Sequence[str],
    offer: Offer,
    limit: int,
    spend: Spend,
) -> Failures | None:
    """Send each of these addresses an invitation; returns those that got none. `base` is the organization's address.

    An address that nobody here may have makes all fail; one that has an account, or was sent enough, is left out.
    """
    await _check_offer(tx, caller, INVITES_BY_MAIL, offer)
    wrong = await _wrong(tx, caller, emails)
    if wrong:
        return Failures(wrong, sent=False)
    known = await queries.accounts_at(tx, realm.id, [email_key_of(email) for email in emails])
    free, left_out = [], []
    for email in emails:
        if email_key_of(email) in known:
            left_out.append(_taken(email, known))
        elif why := await spend(email):
            left_out.append((email, why, False))
        else:
            free.append(email)
    if not free:
        return Failures(left_out, sent=False)
    if not await queries.count_mails(tx, realm.id, len(free), limit):
        return Failures([], sent=False, daily_limit_reached=True)
    keys = await _insert(tx, caller, realm, free, offer, are_handed_over=False)
    for email, key in zip(free, keys, strict=True):
        await send_invitation(tx, realm, caller.full_name, email, join_url(base, key))
    return Failures(left_out, sent=True) if left_out else None


async def make_personal_links(
    tx: Transaction, caller: Caller, realm: Realm, base: str, emails: Sequence[str], offer: Offer
) -> list[PersonalLink]:
    """Make each of these addresses a link, which the caller hands over; for all of them, or for none.

    No mail shows whose the addresses are. The caller vouches for them, as an administrator does who makes accounts.
    """
    if await _check_offer(tx, caller, INVITES_BY_MAIL, offer) > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    wrong = await _wrong(tx, caller, emails)
    known = await queries.accounts_at(tx, realm.id, [email_key_of(email) for email in emails])
    wrong += [_taken(email, known) for email in emails if email_key_of(email) in known]
    if wrong:
        raise Failures(wrong, sent=False).refusal()
    keys = await _insert(tx, caller, realm, emails, offer, are_handed_over=True)
    return [PersonalLink(email, join_url(base, key)) for email, key in zip(emails, keys, strict=True)]


async def _insert(
    tx: Transaction, caller: Caller, realm: Realm, emails: Sequence[str], offer: Offer, *, are_handed_over: bool
) -> list[str]:
    """Store an invitation for each address; returns their keys."""
    act = Act.INVITATION_LINK_MADE if are_handed_over else Act.INVITATION_SENT
    await check_room(tx, INVITATIONS, caller.user_id, len(emails))
    keys = [secrets.token_urlsafe(KEY_BYTES) for _ in emails]
    digests = [digest_of_key(key) for key in keys]
    made = await queries.insert_invitations(
        tx, realm.id, caller.user_id, offer, emails, digests, are_handed_over=are_handed_over
    )
    for invitation_id in made:
        _note(tx, caller, act, invitation_id, offer)
    await tell_invites(tx, realm.id, [caller.user_id])
    return keys


def _taken(email: str, known: Mapping[str, bool]) -> tuple[str, str, bool]:
    return email, "There is an account with this address.", not known[email_key_of(email)]


async def make_link(tx: Transaction, caller: Caller, base: str, offer: Offer) -> str:
    """Make a link that any number of people can join by."""
    await _check_offer(tx, caller, INVITES_BY_LINK, offer)
    await check_room(tx, INVITATIONS, caller.user_id)
    key = secrets.token_urlsafe(KEY_BYTES)
    invitation_id = await queries.insert_link(tx, caller.realm_id, caller.user_id, offer, key, digest_of_key(key))
    _note(tx, caller, Act.INVITATION_LINK_MADE, invitation_id, offer)
    await tell_invites(tx, caller.realm_id, [caller.user_id])
    return join_url(base, key)


def _note(tx: Transaction, caller: Caller, act: Act, invitation_id: int, offer: Offer | None = None) -> None:
    """Without the address: whoever has no account here is not named."""
    facts: dict[str, Change] = {}
    if offer is not None:
        facts = {"role": (None, offer.invited_as), "channels": (None, list(offer.channel_ids))}
        facts |= {"groups": (None, list(offer.group_ids)), "minutes": (None, offer.minutes)}
    note(tx, caller.realm_id, act, ("invitation", invitation_id), **facts)


async def list_invitations(reader: Reader, caller: Caller, base: str) -> list[Invite]:
    """The invitations the caller may take back: their own; administrators also those of others, owners all."""
    is_administrator = caller.role <= Role.ADMINISTRATOR
    rows = await queries.invitations_of(reader, caller.realm_id, None if is_administrator else caller.user_id)
    return [
        Invite(
            id=row.id,
            invited_by_user_id=row.inviter_id,
            invited=row.invited,
            expiry_date=row.expires,
            invited_as=row.invited_as,
            is_multiuse=row.key is not None,
            notify_referrer_on_join=row.tells_inviter,
            email=row.email,
            link_url=join_url(base, row.key) if row.key else None,
        )
        for row in rows
        if _may_manage(caller.user_id, caller.role, row)
    ]


async def revoke(tx: Transaction, caller: Caller, invitation_id: int, *, is_reusable: bool) -> None:
    """Take an invitation back."""
    row = await _hold(tx, caller, invitation_id, is_reusable=is_reusable)
    await queries.delete_invitation(tx, row.id)
    _note(tx, caller, Act.INVITATION_REVOKED, row.id)
    await tell_invites(tx, caller.realm_id, [row.inviter_id])


async def resend(
    tx: Transaction, caller: Caller, realm: Realm, base: str, invitation_id: int, limit: int, spend: Spend
) -> None:
    """Send an invitation once more, with another key: the last mail counts."""
    row = await _hold(tx, caller, invitation_id, is_reusable=False)
    assert row.email is not None
    await check_holds(tx, caller, INVITES_BY_MAIL)
    if why := await spend(row.email):
        raise Failures([(row.email, why, False)], sent=False).refusal()
    if not await queries.count_mails(tx, realm.id, 1, limit):
        raise Failures([], sent=False, daily_limit_reached=True).refusal()
    key = secrets.token_urlsafe(KEY_BYTES)
    await queries.renew(tx, row.id, digest_of_key(key))
    _note(tx, caller, Act.INVITATION_RESENT, row.id)
    inviter = await statements.name_of(tx, row.inviter_id)
    await send_invitation(tx, realm, inviter, row.email, join_url(base, key))
    await tell_invites(tx, caller.realm_id, [row.inviter_id])


async def forget_old_invitations(database: Database) -> int:
    """Delete what has expired; returns how many."""
    async with database.transaction() as tx:
        return await queries.delete_old(tx)


async def _check_offer(tx: Transaction, caller: Caller, right: str, offer: Offer) -> int:
    """Refuse who may not invite at all, or not to all of this; returns their role."""
    role = await hold_role(tx, caller.user_id)
    if role is None:
        raise Refusal("Insufficient permission")
    await hold_credential(tx, caller)
    await check_holds(tx, caller, right)
    check_may_invite_as(role, offer.invited_as)
    defaults = set(await statements.default_channels(tx, caller.realm_id))
    wanted = list(offer.channel_ids)
    offered = await offered_channels(tx, caller.realm_id, caller.user_id, wanted, defaults)
    for channel_id in wanted:
        if channel_id not in offered:
            raise await _not_offered(tx, caller, channel_id)
    for group_id in offer.group_ids:
        group = await get_group(tx, caller, group_id)
        await check_may_in_group(tx, caller, group, GroupAction.ADD_MEMBERS)
    return role


async def _not_offered(tx: Transaction, caller: Caller, channel_id: int) -> Refusal:
    """Why somebody may not invite to a channel; one that they do not see does not exist."""
    channel = await get_ruled_channel(tx, caller, channel_id)
    if channel.is_archived:
        return no_such_channel(channel_id)
    return Refusal(f"You may not subscribe others to the channel '{channel.name}'. {NOBODY_INVITED}")


async def _wrong(tx: Transaction, caller: Caller, emails: Sequence[str]) -> list[tuple[str, str, bool]]:
    """The addresses that nobody in the organization may have, with the reasons."""
    settings, domains = await address_rules(tx, caller.realm_id)
    found: list[tuple[str, str, bool]] = []
    for email in emails:
        if not is_email(email) or id_of_fake_email(email, caller.fake_domain) is not None:
            found.append((email, "That is not an email address.", False))
            continue
        try:
            check_address(settings, domains, email)
        except Refusal as refusal:
            found.append((email, refusal.msg, False))
    return found


async def _hold(tx: Transaction, caller: Caller, invitation_id: int, *, is_reusable: bool) -> queries.Row:
    role = await hold_role(tx, caller.user_id)
    row = await queries.lock_invitation(tx, caller.realm_id, invitation_id)
    is_theirs = row is not None and role is not None and _may_manage(caller.user_id, role, row)
    if row is None or not is_theirs or (row.key is not None) != is_reusable:
        raise no_such_invitation()
    return row


def _may_manage(user_id: int, role: int, row: queries.Row) -> bool:
    """One's own invitations, and as an administrator those of others that one could have sent.

    A link for many is good for whoever sees it: one that makes owners is not shown to administrators.
    """
    return row.inviter_id == user_id or (role <= Role.ADMINISTRATOR and may_invite_as(role, row.invited_as))
