"""Whose request is it? An API key says so, or a browser's session.

Those of concurrent requests are looked up in one statement, with no cache in between: what was revoked or logged out
stops with the commit, on every node. A browser sends its cookie whoever made the page, so whatever changes something
must also carry the session's CSRF token, which only our own pages can read.
"""

import hmac
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from tertulia.kernel.auth import BotType, Caller, DirectoryClient, Hook, Role, Sender, check_kind, credentials_of
from tertulia.kernel.body import read_query
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.cookies import SESSION, find_cookie, keep_session_cookie, session_digest
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import Call
from tertulia.kernel.errors import Refusal, unauthorized
from tertulia.kernel.ids import digest_of_key, is_api_key
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.settings import gone, notes_of
from tertulia.people.users.addresses import email_key_of, fake_domain
from tertulia.people.users.authentication.queries import (
    KeyOwner,
    SessionOwner,
    get_owner,
    note_use_of_token,
    owner_of_token,
    owners_of_keys,
    owners_of_sessions,
    prolong_sessions,
)

C = TypeVar("C", bound=Caller)
D = TypeVar("D", bound=DirectoryClient)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
SESSION_SCHEME = "Session"
_FAKE_DOMAIN = Caller.__struct_fields__.index("fake_domain")


class KeyAuthenticator:
    """Answers an endpoint's question who calls it."""

    def __init__(
        self, database: Database, settings: Settings, note_use: Callable[[int], None] = lambda _key_id: None
    ) -> None:
        self._database = database
        self._note_use = note_use
        self._settings = settings
        self._owners: Coalescer[bytes, KeyOwner] = Coalescer(self._read_owners)
        self._sessions: Coalescer[bytes, SessionOwner] = Coalescer(self._read_sessions)

    async def authenticate(self, call: Call, kind: type[C], optional: bool) -> C | None:
        """The caller as the kind the endpoint asks for; refuses everybody else."""
        if kind is Hook:
            return await self._by_address(call, kind)
        if issubclass(kind, DirectoryClient):
            return await self._by_token(call, kind)
        credentials = credentials_of(call.header("authorization"), call.subdomain or "tertulia")
        if credentials is None:
            return await self._by_session(call, kind, optional)
        owner = await self._owner(credentials.key, call)
        if owner.email_key != email_key_of(credentials.email):
            raise unauthorized("Invalid API key", owner.realm_name)
        check_owner(owner, call.subdomain)
        if owner.caller.bot_type == BotType.INCOMING_WEBHOOK:
            if kind is not Sender:
                raise unauthorized("Incoming-webhook bots may only send messages.", owner.realm_name)
            if owner.caller.signed_only:
                raise unsigned()
        self._note_use(owner.caller.key_id)
        return as_kind(owner.caller, kind, self._settings)

    async def _by_address(self, call: Call, kind: type[C]) -> C:
        """A bot whose key is the parameter `api_key` in the address."""
        sent = read_query(call).get("api_key")
        if not isinstance(sent, str) or not sent:
            raise Refusal("api_key is missing")
        try:
            owner = await self._owner(sent.strip(), call)
            check_owner(owner, call.subdomain)
            if owner.caller.bot_type not in (BotType.GENERIC, BotType.INCOMING_WEBHOOK):
                raise unauthorized("Other services post with the key of a bot for that.", owner.realm_name)
        except Refusal as refusal:
            # Who posts cannot log in otherwise: no challenge.
            raise Refusal(refusal.msg, code="INVALID_API_KEY", status=401) from None
        self._note_use(owner.caller.key_id)
        return as_kind(owner.caller, kind, self._settings)

    async def _by_token(self, call: Call, kind: type[D]) -> D:
        """A directory, by the token that an organization gave it. That of another organization is like none."""
        scheme, _, token = (call.header("authorization") or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            msg = "This needs the token of a directory: Authorization: Bearer ..."
            raise unauthorized(msg, call.subdomain or "tertulia", scheme="Bearer")
        async with self._database.reader() as reader:
            found = await owner_of_token(reader, digest_of_key(token.strip()))
        if found is None or found.owner.caller.subdomain != call.subdomain:
            raise unauthorized("The token is not valid.", call.subdomain or "tertulia", scheme="Bearer")
        check_owner(found.owner, call.subdomain, "Bearer")
        if found.is_due:
            async with self._database.transaction() as tx:
                await note_use_of_token(tx, found.token_id)
        caller = msgspec.structs.replace(
            found.owner.caller,
            role=Role.ADMINISTRATOR,
            fake_domain=fake_domain(self._settings, found.owner.caller.subdomain),
        )
        return kind(**msgspec.structs.asdict(caller), token_id=found.token_id)

    async def _owner(self, key: str, call: Call) -> KeyOwner:
        if not is_api_key(key):
            raise unauthorized("Malformed API key: it has 32 letters and digits.", call.subdomain or "tertulia")
        owner = await self._owners.load(digest_of_key(key))
        if owner is None:
            raise unauthorized("Invalid API key", call.subdomain or "tertulia")
        return owner

    async def _by_session(self, call: Call, kind: type[C], optional: bool) -> C | None:
        digest = session_digest(call, self._settings)
        session = await self._sessions.load(digest) if digest else None
        if session is None:
            if optional:
                return None
            raise _not_logged_in(call, had_session=digest is not None)
        check_owner(session.owner, call.subdomain, SESSION_SCHEME)
        check_csrf_token(call, session.csrf_token)
        call.by_session = True
        if session.is_due and (token := find_cookie(call, SESSION, self._settings)):
            keep_session_cookie(call, token, self._settings)
        return as_kind(session.owner.caller, kind, self._settings)

    async def _read_sessions(self, digests: Sequence[bytes]) -> dict[bytes, SessionOwner]:
        async with self._database.reader() as reader:
            found = await owners_of_sessions(reader, digests)
        if due := sorted(digest for digest, session in found.items() if session.is_due):
            async with self._database.transaction() as tx:
                await prolong_sessions(tx, due, self._settings.session_idle_seconds, self._settings.session_max_seconds)
        return found

    async def _read_owners(self, digests: Sequence[bytes]) -> dict[bytes, KeyOwner]:
        async with self._database.reader() as reader:
            return await owners_of_keys(reader, digests)


def as_kind(caller: Caller, kind: type[C], settings: Settings) -> C:
    """The caller as the kind an endpoint asks for; refuses who is not of it."""
    check_kind(caller, kind)
    values = list(msgspec.structs.astuple(caller))
    values[_FAKE_DOMAIN] = fake_domain(settings, caller.subdomain)
    return kind(*values)


async def refresh(reader: Reader, caller: C) -> C:
    """The caller as of the reader's snapshot; refuses if the account is off by then."""
    owner = await get_owner(reader, caller.user_id, caller.key_id)
    check_owner(owner, caller.subdomain)
    now = msgspec.structs.replace(owner.caller, fake_domain=caller.fake_domain, session_id=caller.session_id)
    return type(caller)(*msgspec.structs.astuple(now))


def unsigned() -> Refusal:
    """The bot's key is right, but the secret was not shown that is set for it. The same for missing, wrong and old."""
    return Refusal(
        "A secret is set for this webhook, and the request is not signed with it, or is too old.",
        code="INVALID_WEBHOOK_SIGNATURE",
        status=401,
    )


def check_csrf_token(call: Call, token: str) -> None:
    """Refuse to change anything for a page that does not know the session's token."""
    if call.method in SAFE_METHODS:
        return
    sent = call.raw_headers.get(b"x-csrf-token")
    if sent is None or not hmac.compare_digest(sent.strip(), token.encode()):
        what = "missing" if sent is None else "wrong"
        raise csrf_failed(f"The X-CSRF-Token header is {what}.")


def csrf_failed(reason: str) -> Refusal:
    """The refusal of a request that another site's page may have made."""
    return Refusal(f"CSRF error: {reason}", code="CSRF_FAILED", status=403, reason=reason)


def _not_logged_in(call: Call, *, had_session: bool) -> Refusal:
    realm = call.subdomain or "tertulia"
    if had_session:
        # Not the challenge for Basic: browsers would ask for a password in a window of their own.
        return unauthorized("Your session has ended: please log in again.", realm, scheme=SESSION_SCHEME)
    return unauthorized("Not logged in: this needs an email address and an API key, or a browser session.", realm)


def check_owner(owner: KeyOwner, subdomain: str | None, scheme: str = "Basic") -> None:
    """Refuse credentials whose owner or organization is off, or that were sent to another organization's host."""
    if owner.caller.subdomain != subdomain:
        msg = "This account does not belong to the organization at this address."
        raise unauthorized(msg, owner.realm_name, scheme=scheme)
    if not owner.realm_is_active:
        raise unauthorized(gone(notes_of(owner.caller)), owner.realm_name, scheme=scheme)
    if not owner.is_active:
        raise unauthorized("This account is deactivated.", owner.realm_name, scheme=scheme)
