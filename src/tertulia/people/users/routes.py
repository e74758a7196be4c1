"""Endpoints of the users feature."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Administrator, Anyone, Caller, Human, Person, RoleNumber
from tertulia.kernel.conditions import accepted_encoding, entity_tags
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, Reply, delete, get, patch, post
from tertulia.kernel.extra_parameters import extra_parameters
from tertulia.kernel.limits import RateLimits
from tertulia.kernel.reply import success_body
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.routes import get_realm_of
from tertulia.people.users import actions, activation, queries
from tertulia.people.users.access import get_user_id, get_user_text, is_limited
from tertulia.people.users.account_mails import AccountMails
from tertulia.people.users.actions import Changes, check_not_fake
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.arrival import Arrival
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.directory import Directory, Listed, members_of
from tertulia.people.users.handover import BotHandover
from tertulia.people.users.model import ProfileEntry, UserRecord, UserView, anonymous_view, view_of
from tertulia.people.users.password_words import words_of
from tertulia.people.users.passwords import check_strength, hash_password
from tertulia.people.users.profile import ProfileWriter
from tertulia.people.users.queries import newest_message_id
from tertulia.people.users.reauthentication import Proof, Reauthentication
from tertulia.people.users.spectators import check_open_to_web

Comment = Annotated[str, msgspec.Meta(max_length=2000)]
Entries = Annotated[list[ProfileEntry], msgspec.Meta(max_length=100)]
UserIds = Annotated[list[int], msgspec.Meta(max_length=100_000)]


class Members(msgspec.Struct):
    """The answer of GET /users."""

    members: list[UserRecord]


class OneUser(msgspec.Struct):
    """The answer of GET /users/{user_id}."""

    user: UserRecord


@get("/users", returns=Members)
async def get_users(
    caller: Anyone,
    call: Call,
    database: Database,
    directory: Directory,
    settings: Settings,
    *,
    client_gravatar: bool = True,  # noqa: ARG001 (avatars are ours: there is none to leave out)
    include_custom_profile_fields: bool = False,
    user_ids: UserIds | None = None,
) -> Reply | msgspec.Raw:
    """All users of the organization, deactivated ones and bots too; or those with the given IDs.

    Open to everybody in organizations with public access; where guests see only some of the users, strangers see those in
    channels that are open to the web. Repeat the answer's `ETag` in `If-None-Match`: as long as
    nothing has changed, the answer is 304.
    """
    profile = include_custom_profile_fields
    if caller is not None and not caller.is_guest and user_ids is None:
        view = view_of(caller)  # as nearly all are: no connection is needed to find that out
    else:
        async with database.reader() as reader:
            view = view_of(caller) if caller else await public_view(call, reader, settings)
            if caller is None:
                limited = await queries.limits_guests(reader, view.realm_id)
            else:
                limited = await is_limited(reader, caller)
            if user_ids is not None or limited:
                text = await queries.some_users(reader, view, user_ids, profile=profile, limited=limited)
                return msgspec.Raw(b'{"members":' + text + b"}")
    gzip = bool(accepted_encoding(call.header("accept-encoding"), ["gzip"])) and not call.ignored
    known = [] if call.ignored else entity_tags(call.header("if-none-match"))
    listed = await directory.members(view, profile=profile, gzip=gzip, known=known)
    return cached_reply(listed, call.ignored)


def cached_reply(listed: Listed, ignored: list[str] | None) -> Reply:
    """The list with what caches need to know. Anything that differs from one caller to another is named in Vary."""
    if ignored:
        assert listed.body is not None
        return Reply(success_body(msgspec.Raw(b'{"members":' + members_of(listed.body) + b"}"), ignored))
    headers = {
        "ETag": listed.etag,
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization, Cookie, Accept-Encoding",
    }
    if listed.body is None:
        return Reply(b"", 304, headers)
    if listed.is_gzip:
        headers["Content-Encoding"] = "gzip"
    return Reply(listed.body, headers=headers)


async def public_view(call: Call, reader: Reader, settings: Settings) -> UserView:
    """What somebody without an account sees, where the server and the organization let them."""
    realm = await get_realm_of(call, reader)
    check_open_to_web(realm, settings)
    return anonymous_view(realm.id, realm.subdomain, settings)


@get("/users/me", returns=UserRecord)
async def get_own_user(caller: Person, reader: Reader) -> msgspec.Raw:
    """Your own user record, and the newest message you can see."""
    text = await get_user_text(reader, caller, caller.user_id, profile=True)
    newest = await newest_message_id(reader, caller.user_id)
    return msgspec.Raw(b'%b,"max_message_id":%d}' % (text[:-1], newest))


@get("/users/{user_id}", returns=OneUser)
async def get_user(
    caller: Person,
    reader: Reader,
    *,
    user_id: int,
    client_gravatar: bool = True,  # noqa: ARG001
    include_custom_profile_fields: bool = False,
) -> dict[str, msgspec.Raw]:
    """One user of the organization."""
    return {"user": msgspec.Raw(await get_user_text(reader, caller, user_id, profile=include_custom_profile_fields))}


@get("/users/{email}", returns=OneUser)
async def get_user_by_email(
    caller: Person,
    reader: Reader,
    *,
    email: str,
    client_gravatar: bool = True,  # noqa: ARG001
    include_custom_profile_fields: bool = False,
) -> dict[str, msgspec.Raw]:
    """One user of the organization, by an address you can see or by the API address."""
    user_id = await get_user_id(reader, caller, email)
    return {"user": msgspec.Raw(await get_user_text(reader, caller, user_id, profile=include_custom_profile_fields))}


class Created(msgspec.Struct):
    """The answer of POST /users."""

    user_id: int


@post("/users")
async def create_user(
    caller: Administrator, database: Database, arrival: Arrival, settings: Settings,
    *, email: str, password: str, full_name: str,
) -> Created:  # fmt: skip
    """Make an account, as an administrator. It is subscribed to the default channels."""
    async with database.reader() as reader:
        words = await words_of(reader, caller.realm_id, settings)
    await check_strength(password, words, email, full_name)
    stored = await hash_password(password, settings)  # takes long: no connection is held meanwhile
    async with database.transaction() as tx:
        return Created(await actions.make_person(tx, caller, arrival, email, full_name, password_hash=stored))


CHANGES = {"full_name": str, "role": RoleNumber, "new_email": str, "profile_data": Entries}


@patch("/users/{user_id}")
@extra_parameters(CHANGES)
async def change_user(
    caller: Person,
    call: Call,
    database: Database,
    again: Reauthentication,
    profile: ProfileWriter,
    *,
    user_id: int,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
    **chosen: Any,
) -> None:
    """Change somebody's name, role, address or profile, as an administrator or as the owner of a bot.

    A browser's session has to send your own password for a role or an address, because what it gives away outlives it.
    """
    await _check_lasting(caller, call, again, Proof(password, code, passkey), chosen)
    async with database.transaction() as tx:
        await _change(tx, caller, profile, user_id, **chosen)


@patch("/users/{email}")
@extra_parameters(CHANGES)
async def change_user_by_email(
    caller: Person,
    call: Call,
    database: Database,
    again: Reauthentication,
    profile: ProfileWriter,
    *,
    email: str,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
    **chosen: Any,
) -> None:
    """As with the ID: change somebody's name, role, address or profile."""
    await _check_lasting(caller, call, again, Proof(password, code, passkey), chosen)
    async with database.transaction() as tx:
        await _change(tx, caller, profile, await get_user_id(tx, caller, email), **chosen)


async def _check_lasting(
    caller: Caller, call: Call, again: Reauthentication, proof: Proof, chosen: dict[str, Any]
) -> None:
    """A thief's session would make an account of the thief's an administrator's, or get another by its address."""
    if chosen["role"] is not None or chosen["new_email"] is not None:
        await again.check_session(caller, call, proof)


async def _change(
    tx: Transaction,
    caller: Caller,
    profile: ProfileWriter,
    user_id: int,
    *,
    full_name: str | None,
    role: int | None,
    new_email: str | None,
    profile_data: list[ProfileEntry] | None,
) -> None:
    if new_email is not None:
        check_not_fake(new_email, caller)
    if profile_data is not None:
        await profile.hold(tx, caller.realm_id)
    await actions.change_user(tx, caller, user_id, Changes(full_name, role, new_email))
    if profile_data is not None:
        await profile.write(tx, caller, user_id, profile_data)


@delete("/users/me")
async def deactivate_oneself(
    caller: Human,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> None:
    """Deactivate your own account. Needs your password."""
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        await activation.deactivate_oneself(tx, caller)


@delete("/users/{user_id}")
async def deactivate_user(
    caller: Administrator,
    call: Call,
    database: Database,
    settings: Settings,
    limits: RateLimits,
    again: Reauthentication,
    mails: AccountMails,
    *,
    user_id: int,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
    deactivation_notification_comment: Comment | None = None,
) -> None:
    """Deactivate somebody's account: their bots first, then keys, sessions and event queues end.

    With a comment, which may be empty, they are told by mail. Your own account needs your password.
    """
    if user_id == caller.user_id and not caller.is_bot:
        await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        target = await activation.deactivate_user(tx, caller, user_id)
        if deactivation_notification_comment is not None:
            if settings.rate_limits:
                # Accounts can be made for any address: nobody is rained on with an administrator's words.
                await limits.spend_mail(call, "farewell", caller.realm_id, email_key_of(target.email))
            await mails.farewell(tx, user_id, deactivation_notification_comment)


@post("/users/{user_id}/reactivate")
async def reactivate_user(caller: Person, tx: Transaction, handover: BotHandover, *, user_id: int) -> None:
    """Reactivate a deactivated account. Subscriptions and groups are as they were; bots stay deactivated.

    API keys and sessions are gone: people log in again, and a bot's owner regenerates its key. A bot whose owner is
    deactivated becomes yours.
    """
    await activation.reactivate_user(tx, caller, user_id, handover)
