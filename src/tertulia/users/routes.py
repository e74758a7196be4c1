"""Endpoints of the users feature."""

from typing import Annotated, Any, Literal

import msgspec

from tertulia.kernel.auth import Administrator, Anyone, Caller, Human, Person
from tertulia.kernel.conditions import accepted_encoding, entity_tags
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, Reply, delete, get, patch, post
from tertulia.kernel.errors import Refusal, unauthorized
from tertulia.kernel.reply import success_body
from tertulia.kernel.settings import Settings
from tertulia.kernel.taking import taking
from tertulia.reads.queries import newest_message_id
from tertulia.realms.domains import check_address_allowed
from tertulia.realms.routes import get_realm_of
from tertulia.realms.settings import decode_settings
from tertulia.users import actions, coming_and_going, queries
from tertulia.users.access import get_user_id, get_user_text, is_limited
from tertulia.users.actions import Changes
from tertulia.users.addresses import id_of_fake_email
from tertulia.users.arrival import Arrival, Newcomer
from tertulia.users.directory import Directory, Listed, members_of
from tertulia.users.model import ProfileEntry, UserRecord, View, anonymous_view, view_of
from tertulia.users.passwords import check_strength
from tertulia.users.profile import ProfileWriter

Comment = Annotated[str, msgspec.Meta(max_length=2000)]
Entries = Annotated[list[ProfileEntry], msgspec.Meta(max_length=100)]


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
    user_ids: list[int] | None = None,
) -> Reply | msgspec.Raw:
    """All users of the organization, deactivated ones and bots too; or those with the given IDs.

    Open to everybody in organizations with public access. Repeat the answer's `ETag` in `If-None-Match`: as long as
    nothing has changed, the answer is 304.
    """
    profile = include_custom_profile_fields
    if caller is not None and not caller.is_guest and user_ids is None:
        view = view_of(caller)  # as nearly all are: no connection is needed to find that out
    else:
        async with database.reader() as reader:
            view = view_of(caller) if caller else await public_view(call, reader, settings)
            limited = caller is not None and await is_limited(reader, caller)
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


async def public_view(call: Call, reader: Reader, settings: Settings) -> View:
    """What somebody without an account sees, where the organization lets them."""
    realm = await get_realm_of(call, reader)
    if not realm.is_active or not decode_settings(realm.settings).enable_spectator_access:
        raise unauthorized("Not logged in: this needs an email address and an API key.", realm.name)
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
    caller: Administrator, tx: Transaction, arrival: Arrival, *, email: str, password: str, full_name: str
) -> Created:
    """Make an account, as an administrator. It is subscribed to the default channels."""
    await check_strength(password, email, full_name)
    check_not_fake(email, caller)
    await check_address_allowed(tx, caller.realm_id, email)
    await actions.check_name_free(tx, caller, full_name)
    reception = await arrival.hold(tx, caller.realm_id, Newcomer(email, is_made=True))
    user_id = await actions.create_user(tx, caller.realm_id, email, full_name, password=password)
    await arrival.welcome(tx, caller.realm_id, user_id, reception)
    return Created(user_id)


RoleNumber = Literal[100, 200, 300, 400, 600]


CHANGES = {"full_name": str, "role": RoleNumber, "new_email": str, "profile_data": Entries}


@patch("/users/{user_id}")
@taking(CHANGES)
async def change_user(caller: Person, tx: Transaction, profile: ProfileWriter, *, user_id: int, **chosen: Any) -> None:
    """Change somebody's name, role, address or profile, as an administrator or as the owner of a bot."""
    await _change(tx, caller, profile, user_id, **chosen)


@patch("/users/{email}")
@taking(CHANGES)
async def change_user_by_email(
    caller: Person, tx: Transaction, profile: ProfileWriter, *, email: str, **chosen: Any
) -> None:
    """As with the ID: change somebody's name, role, address or profile."""
    await _change(tx, caller, profile, await get_user_id(tx, caller, email), **chosen)


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
async def deactivate_oneself(caller: Human, tx: Transaction) -> None:
    """Deactivate your own account."""
    await coming_and_going.deactivate_oneself(tx, caller)


@delete("/users/{user_id}")
async def deactivate_user(
    caller: Administrator,
    tx: Transaction,
    *,
    user_id: int,
    deactivation_notification_comment: Comment | None = None,  # noqa: ARG001 (mails come with the mail feature)
) -> None:
    """Deactivate somebody's account: their bots first, then keys, sessions and event queues end."""
    await coming_and_going.deactivate_user(tx, caller, user_id)


@post("/users/{user_id}/reactivate")
async def reactivate_user(caller: Person, tx: Transaction, *, user_id: int) -> None:
    """Turn a deactivated account on again; everything it had comes back."""
    await coming_and_going.reactivate_user(tx, caller, user_id)


def check_not_fake(email: str, caller: Caller) -> None:
    """Refuse addresses that stand for hidden ones."""
    if id_of_fake_email(email, caller.fake_domain) is not None:
        raise Refusal("Addresses of this form are kept for accounts that hide their own.")
