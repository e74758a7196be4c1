"""Endpoints of invitations."""

from typing import Annotated, Any

import msgspec

from tertulia.conversations.channels.rules import no_such_id
from tertulia.conversations.invitations import actions
from tertulia.conversations.invitations.frequency import budget_of
from tertulia.conversations.invitations.model import Invite, Offer, PersonalLink
from tertulia.conversations.invitations.rules import DEFAULT_MINUTES, MAX_MINUTES, addresses_in
from tertulia.kernel.auth import HumanAdministrator, HumanMember, Role, RoleNumber
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, NoSuchId, Wire, decode_json, delete, get, post
from tertulia.kernel.limits import RateLimits
from tertulia.kernel.mail import check_mails_leave, check_no_mails_leave
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import get_realm
from tertulia.organization.realms.routes import realm_url
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.reauthentication import Proof, Reauthentication

FOR_EVER = 0
Ids = Annotated[list[int], msgspec.Meta(max_length=1000)]
ChannelIds = Annotated[list[int], msgspec.Meta(max_length=1000), NoSuchId(no_such_id)]


def parse_minutes(value: Any) -> int:
    """Minutes; null means that it never expires, which is not the same as leaving it out."""
    minutes = decode_json(value) if isinstance(value, str) else value
    if minutes is None:
        return FOR_EVER
    if not isinstance(minutes, int) or isinstance(minutes, bool):
        raise ValueError("is not an integer")
    if not 1 <= minutes <= MAX_MINUTES:
        raise ValueError(f"is not between 1 and {MAX_MINUTES}")
    return minutes


Minutes = Annotated[
    int, Wire(parse_minutes, {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_MINUTES}, {"type": "null"}]})
]


Addresses = Annotated[str, msgspec.Meta(max_length=100_000)]


class Link(msgspec.Struct):
    """The answer of POST /invites/multiuse."""

    invite_link: str


class PersonalLinks(msgspec.Struct):
    """The answer of POST /invites/personal."""

    invite_links: list[PersonalLink]


class Invites(msgspec.Struct):
    """The answer of GET /invites."""

    invites: list[Invite]


@post("/invites")
async def send_invites(
    caller: HumanMember,
    call: Call,
    database: Database,
    settings: Settings,
    limits: RateLimits,
    again: Reauthentication,
    *,
    invitee_emails: Addresses,
    stream_ids: ChannelIds,
    invite_as: RoleNumber = Role.MEMBER.value,
    invite_expires_in_minutes: Minutes = DEFAULT_MINUTES,
    group_ids: Ids | None = None,
    include_realm_default_subscriptions: bool = False,
    notify_referrer_on_join: bool = True,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> None:
    """Invite people by mail. Separate the addresses by commas or line breaks.

    Addresses that have an account, or were sent too many already, get no invitation: the answer is the error
    INVITATION_FAILED then, which lists them in `errors`, and says in `sent_invitations` whether the others were invited.
    If one of the addresses is not allowed in this organization, nobody is invited. With `invite_expires_in_minutes`
    null the invitations never expire. For more than a member, a browser's session has to send the password: whoever joins so
    outlives the session.
    """
    if invite_as < Role.MEMBER:
        await again.check_session(caller, call, Proof(password, code, passkey))
    check_mails_leave(settings)
    emails = addresses_in(invitee_emails)
    offer = _offer(
        invite_as, stream_ids, group_ids, include_realm_default_subscriptions, notify_referrer_on_join,
        invite_expires_in_minutes,
    )  # fmt: skip
    async with database.transaction() as tx:
        realm = await get_realm(tx, caller.realm_id)
        base = realm_url(realm, call, settings)
        spend = budget_of(call, caller, settings, limits)
        failures = await actions.invite(tx, caller, realm, base, emails, offer, settings.invitation_mails, spend)
    if failures is not None:  # after the commit: the others are invited
        raise failures.refusal()


@post("/invites/multiuse")
async def make_invite_link(
    caller: HumanMember,
    call: Call,
    database: Database,
    settings: Settings,
    again: Reauthentication,
    *,
    stream_ids: ChannelIds | None = None,
    invite_as: RoleNumber = Role.MEMBER.value,
    invite_expires_in_minutes: Minutes = DEFAULT_MINUTES,
    group_ids: Ids | None = None,
    include_realm_default_subscriptions: bool = False,
    notify_referrer_on_join: bool = True,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> Link:
    """Make a link by which any number of people can join; each confirms their address by a mail.

    For more than a member, a browser's session has to send the password.
    """
    if invite_as < Role.MEMBER:
        await again.check_session(caller, call, Proof(password, code, passkey))
    offer = _offer(
        invite_as, stream_ids, group_ids, include_realm_default_subscriptions, notify_referrer_on_join,
        invite_expires_in_minutes,
    )  # fmt: skip
    async with database.transaction() as tx:
        base = realm_url(await get_realm(tx, caller.realm_id), call, settings)
        return Link(await actions.make_link(tx, caller, base, offer))


@post("/invites/personal")
async def make_personal_links(
    caller: HumanAdministrator,
    call: Call,
    database: Database,
    settings: Settings,
    again: Reauthentication,
    *,
    invitee_emails: Addresses,
    stream_ids: ChannelIds | None = None,
    invite_as: RoleNumber = Role.MEMBER.value,
    invite_expires_in_minutes: Minutes = DEFAULT_MINUTES,
    group_ids: Ids | None = None,
    include_realm_default_subscriptions: bool = False,
    notify_referrer_on_join: bool = True,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> PersonalLinks:
    """Make a link for each of these addresses, as an administrator of a server that sends no mail: you hand them over yourself.

    Each makes one account, whose password its holder chooses. Where mail is sent, POST /invites is the way: there an address is
    confirmed. If one of the addresses cannot be invited, there are no links at all. For more than a member, a browser's session
    has to send the password.
    """
    if invite_as < Role.MEMBER:
        await again.check_session(caller, call, Proof(password, code, passkey))
    check_no_mails_leave(settings)
    emails = addresses_in(invitee_emails)
    offer = _offer(
        invite_as, stream_ids, group_ids, include_realm_default_subscriptions, notify_referrer_on_join,
        invite_expires_in_minutes,
    )  # fmt: skip
    async with database.transaction() as tx:
        realm = await get_realm(tx, caller.realm_id)
        base = realm_url(realm, call, settings)
        return PersonalLinks(await actions.make_personal_links(tx, caller, realm, base, emails, offer))


@get("/invites")
async def get_invites(caller: HumanMember, call: Call, reader: Reader, settings: Settings) -> Invites:
    """The invitations you can revoke: your own, as an administrator also those of others."""
    base = realm_url(await get_realm(reader, caller.realm_id), call, settings)
    return Invites(await actions.list_invitations(reader, caller, base))


@delete("/invites/{invite_id}")
async def revoke_invite(caller: HumanMember, tx: Transaction, *, invite_id: int) -> None:
    """Revoke an invitation that was sent to an address."""
    await actions.revoke(tx, caller, invite_id, is_reusable=False)


@delete("/invites/multiuse/{invite_id}")
async def revoke_invite_link(caller: HumanMember, tx: Transaction, *, invite_id: int) -> None:
    """Revoke a link that any number of people can join by. Who has not finished signing up with it no longer can."""
    await actions.revoke(tx, caller, invite_id, is_reusable=True)


@post("/invites/{invite_id}/resend")
async def resend_invite(
    caller: HumanMember, call: Call, tx: Transaction, settings: Settings, limits: RateLimits, *, invite_id: int
) -> None:
    """Send an invitation once more. It gets a new link, valid for as long as the first one was."""
    check_mails_leave(settings)
    realm = await get_realm(tx, caller.realm_id)
    base = realm_url(realm, call, settings)
    spend = budget_of(call, caller, settings, limits)
    await actions.resend(tx, caller, realm, base, invite_id, settings.invitation_mails, spend)


def _offer(
    role: int, channels: list[int] | None, groups: list[int] | None, with_defaults: bool, tells: bool, minutes: int
) -> Offer:
    return Offer(
        invited_as=role,
        channel_ids=sorted(set(channels or ())),
        group_ids=sorted(set(groups or ())),
        with_defaults=with_defaults,
        tells_inviter=tells,
        minutes=None if minutes == FOR_EVER else minutes,
    )
