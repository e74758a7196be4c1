"""Endpoints of the users feature."""

from typing import Any

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import Call, get, post
from tertulia.kernel.errors import Refusal
from tertulia.reads.queries import newest_message_id
from tertulia.realms.queries import Realm
from tertulia.realms.routes import get_realm_of
from tertulia.realms.settings import decode_settings
from tertulia.users import queries
from tertulia.users.actions import create_api_key, is_email
from tertulia.users.model import user_record
from tertulia.users.passwords import is_password


class FetchedKey(msgspec.Struct):
    """The answer of POST /fetch_api_key."""

    api_key: str
    email: str
    user_id: int


@post("/fetch_api_key")
async def fetch_api_key(call: Call, database: Database, *, username: str, password: str) -> FetchedKey:
    """Exchange a password for a new API key of this device. No authentication header."""
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
        check_login_allowed(realm)
        if not is_email(username.strip()):
            raise Refusal("Enter a valid email address.")
        login = await queries.find_login(reader, realm.id, queries.email_key_of(username))
    # No connection is held while the password is being checked: that takes long, on purpose.
    if login is not None and not login.is_active:
        raise Refusal("This account is deactivated.", code="USER_DEACTIVATED", status=401)
    if not await is_password(login.password_hash if login else None, password) or login is None:
        raise Refusal("Wrong email address or password.", code="AUTHENTICATION_FAILED", status=401)
    async with database.transaction() as tx:
        key = await create_api_key(tx, login.id, label=call.client)
    return FetchedKey(key, login.email, login.id)


@get("/users/me")
async def get_own_user(caller: Person, reader: Reader) -> dict[str, Any]:
    """Your own user record."""
    user = await queries.get_user(reader, caller.user_id)
    record = msgspec.to_builtins(user_record(user, with_profile=True))
    return {**record, "max_message_id": await newest_message_id(reader, caller.user_id)}


def check_login_allowed(realm: Realm) -> None:
    """Refuse logins where there are none."""
    if not realm.is_active:
        raise Refusal("This organization has been deactivated.", code="REALM_DEACTIVATED", status=401)
    if not decode_settings(realm.settings).password_auth_enabled:
        raise Refusal("This organization has no password login.", code="PASSWORD_AUTH_DISABLED", status=401)
