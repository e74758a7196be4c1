"""Whose request is it? Keys of concurrent requests are looked up in one statement, with no cache in between."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from tertulia.kernel.auth import INCOMING_WEBHOOK_BOT, Caller, Sender, check_kind, credentials_of
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import Call
from tertulia.kernel.errors import unauthorized
from tertulia.kernel.ids import digest_of_key, is_api_key
from tertulia.kernel.settings import Settings
from tertulia.users.addresses import fake_domain
from tertulia.users.queries import KeyOwner, email_key_of, get_owner, owners_of_keys

C = TypeVar("C", bound=Caller)


class KeyAuthenticator:
    """Answers an endpoint's question who calls it."""

    def __init__(
        self, database: Database, settings: Settings, note_use: Callable[[int], None] = lambda _key_id: None
    ) -> None:
        self._database = database
        self._note_use = note_use
        self._settings = settings
        self._owners: Coalescer[bytes, KeyOwner] = Coalescer(self._read_owners)

    async def authenticate(self, call: Call, kind: type[C], optional: bool) -> C | None:
        """The caller as the kind the endpoint asks for; refuses everybody else."""
        credentials = credentials_of(call.headers.get("authorization"), call.subdomain or "tertulia")
        if credentials is None:
            if optional:
                return None
            raise unauthorized(
                "Not logged in: this needs an email address and an API key.", call.subdomain or "tertulia"
            )
        owner = await self._owner(credentials.key, call)
        if owner.email_key != email_key_of(credentials.email):
            raise unauthorized("Invalid API key", owner.realm_name)
        check_owner(owner, call.subdomain)
        if owner.caller.bot_type == INCOMING_WEBHOOK_BOT and kind is not Sender:
            raise unauthorized("Incoming-webhook bots may only send messages.", owner.realm_name)
        self._note_use(owner.caller.key_id)
        return as_kind(owner.caller, kind, self._settings)

    async def _owner(self, key: str, call: Call) -> KeyOwner:
        if not is_api_key(key):
            raise unauthorized("Malformed API key: it has 32 letters and digits.", call.subdomain or "tertulia")
        owner = await self._owners.load(digest_of_key(key))
        if owner is None:
            raise unauthorized("Invalid API key", call.subdomain or "tertulia")
        return owner

    async def _read_owners(self, digests: Sequence[bytes]) -> dict[bytes, KeyOwner]:
        async with self._database.reader() as reader:
            return await owners_of_keys(reader, digests)


def as_kind(caller: Caller, kind: type[C], settings: Settings) -> C:
    """The caller as the kind an endpoint asks for; refuses who is not of it."""
    check_kind(caller, kind)
    complete = msgspec.structs.replace(caller, fake_domain=fake_domain(settings, caller.subdomain))
    return kind(*msgspec.structs.astuple(complete))


async def refresh(reader: Reader, caller: C) -> C:
    """The caller as of the reader's snapshot; refuses if the account is off by then."""
    owner = await get_owner(reader, caller.user_id, caller.key_id)
    check_owner(owner, caller.subdomain)
    now = msgspec.structs.replace(owner.caller, fake_domain=caller.fake_domain)
    return type(caller)(*msgspec.structs.astuple(now))


def check_owner(owner: KeyOwner, subdomain: str | None) -> None:
    """Refuse a key whose owner or organization is off, or that was sent to another organization's host."""
    if owner.caller.subdomain != subdomain:
        raise unauthorized("This account does not belong to the organization at this address.", owner.realm_name)
    if not owner.realm_is_active:
        raise unauthorized("This organization has been deactivated.", owner.realm_name)
    if not owner.is_active:
        raise unauthorized("This account is deactivated.", owner.realm_name)
