"""What can be done to users."""

import re

import asyncpg

from tertulia.events.record import Audience, record
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key, new_api_key
from tertulia.realms.limits import MAX_FULL_NAME_LENGTH
from tertulia.users import queries
from tertulia.users.model import user_record
from tertulia.users.passwords import hash_password

_EMAIL = re.compile(r"[^\s@:]{1,64}@[^\s@:]{1,189}")


async def create_user(
    tx: Transaction,
    realm_id: int,
    email: str,
    full_name: str,
    role: int = Role.MEMBER,
    *,
    password: str | None = None,
    bot_type: int | None = None,
    bot_owner_id: int | None = None,
) -> int:
    """Make an account and tell the realm; its id."""
    email, full_name = email.strip(), full_name.strip()
    if not is_email(email):
        raise Refusal("That is not an email address.")
    if not 1 <= len(full_name) <= MAX_FULL_NAME_LENGTH:
        raise Refusal(f"A name has 1 to {MAX_FULL_NAME_LENGTH} characters.")
    stored = await hash_password(password) if password is not None else None
    try:
        user_id = await queries.insert_user(tx, realm_id, email, full_name, role, (bot_type, bot_owner_id), stored)
    except asyncpg.UniqueViolationError as error:
        raise Refusal("Somebody in this organization has that email address already.") from error
    person = user_record(await queries.get_user(tx, user_id), with_active=False, with_profile=True)
    tx.emit(realm_id, record(Audience(realm=True), "realm_user", {"op": "add", "person": person}))
    return user_id


async def create_api_key(tx: Transaction, user_id: int, label: str = "") -> str:
    """Make one more key for a user. This is the only moment the key itself is known."""
    key = new_api_key()
    await queries.insert_api_key(tx, user_id, digest_of_key(key), label[:100])
    return key


def is_email(text: str) -> bool:
    """Whether the text looks like an address. A colon would break Basic authentication."""
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None
