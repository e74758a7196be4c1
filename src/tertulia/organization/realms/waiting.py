"""An organization that waits for its owner: its address is taken, nobody is in it, and whoever brings the key begins it.

The key is stored as a digest among what the database notes of a realm, with the time at which it ends. It is good once, for
as long as nobody has an account there: what begins an organization never makes one more owner of it.
"""

import hmac
import secrets
import time

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.organization.realms import queries
from tertulia.organization.realms.queries import Realm

KEY_BYTES = 32
VALID_SECONDS = 86400


async def expect_owner(tx: Transaction, realm_id: int) -> str:
    """A key for whoever will own the organization; an earlier one ends. Refused where somebody is already."""
    await queries.lock_realm(tx, realm_id)
    if await queries.has_people(tx, realm_id):
        raise Refusal("This organization has people already: its owner was found.")
    key = secrets.token_urlsafe(KEY_BYTES)
    await queries.note_waiting(tx, realm_id, f"{digest_of_key(key).hex()} {int(time.time()) + VALID_SECONDS}")
    return key


async def check_waiting(reader: Reader, realm: Realm, key: str) -> None:
    """Refuse a key that is not the one this organization waits for. Used, old and made-up ones are answered alike."""
    digest, _, ends = realm.facts.notes.waiting.partition(" ")
    is_right = hmac.compare_digest(digest_of_key(key).hex(), digest)
    if not (realm.is_active and is_right and time.time() < int(ends)) or await queries.has_people(reader, realm.id):
        raise Refusal("This link is not good, or no longer.")


async def take_key(tx: Transaction, realm_id: int, key: str) -> None:
    """The organization waits no longer. Of two who bring the key at once, the second finds it used."""
    await check_waiting(tx, await queries.lock_realm(tx, realm_id), key)
    await queries.forget_waiting(tx, realm_id)
