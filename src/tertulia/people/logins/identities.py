"""Whom a provider or the directory vouches for, tied to an account here.

Invariants
- A person there is a provider and its own name for them. An account has one person of each provider: an address that the
  provider gave to somebody else later opens nothing.
- An account that one provider vouches for is not opened by what another one says of its address, unless the operator said
  that the two know the same people.
"""

import structlog

from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.people.logins import queries

log = structlog.get_logger()


async def tie(
    tx: Transaction, realm_id: int, provider: str, subject: str, user_id: int, *, shares_people: bool
) -> None:
    """Remember whose account this person has, who has proven its address; refuses one that is another person's.

    `shares_people`: what other providers and the directory say of an address, this one may say too.
    """
    known = await queries.lock_identities(tx, user_id)
    if known.get(provider, subject) != subject or (known.keys() - {provider} and not shares_people):
        log.warning("an account of another identity was asked for", user_id=user_id, provider=provider)
        raise Refusal(
            "Your address belongs to an account that somebody logs in to in another way. Ask the operator.", status=403
        )
    await queries.insert_identity(tx, realm_id, provider, subject, user_id)


async def untie(tx: Transaction, user_id: int) -> int:
    """Forget who vouches for somebody: their next login counts as the first one. Returns how many did."""
    known = await queries.lock_identities(tx, user_id)
    await queries.delete_identities(tx, user_id)
    return len(known)
