"""Challenges are given out, and signed ones are taken: once, and for what they were made for.

One challenge is good for one try, also for one that fails: it is claimed in a transaction of its own before anything is
checked, because the refusal would roll back a deletion. What is left of it is a ticket that only the claiming request knows. It
is taken with the outcome, so whatever drops somebody's challenges meanwhile drops this one too.
"""

import hashlib
import hmac
import secrets

import msgspec
import structlog

from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.people.factors import queries as factors
from tertulia.people.factors.passkeys import ceremony, queries
from tertulia.people.factors.passkeys.ceremony import NotVerified, bytes_of, text_of
from tertulia.people.factors.passkeys.model import Descriptor, RequestOptions
from tertulia.people.factors.passkeys.party import Party
from tertulia.people.factors.passkeys.queries import Bound, Known
from tertulia.people.users.assertion import Assertion

log = structlog.get_logger()

SECONDS = 300
SIGN_IN = "sign in"
SECOND_STEP = "second step"
ADD = "add"
MAX_OPEN = 20
"""Challenges of one account that wait to be signed; the oldest are forgotten."""
BATCH = 5000
_CHALLENGE_BYTES = 32


class Claim(msgspec.Struct, frozen=True):
    """A challenge that came back, and is nobody else's any more."""

    challenge: bytes
    ticket: bytes
    bound: Bound


async def begin(tx: Transaction, bound: Bound) -> bytes:
    """A new challenge."""
    challenge = secrets.token_bytes(_CHALLENGE_BYTES)
    if bound.user_id is not None:
        await queries.drop_oldest_challenges(tx, bound.user_id, MAX_OPEN - 1)
    await queries.insert_challenge(tx, _digest(challenge), bound, SECONDS)
    return challenge


async def offer(tx: Transaction, party: Party, bound: Bound) -> RequestOptions | None:
    """What somebody's browser asks their passkeys with; None if they have none, or there can be none here."""
    assert bound.user_id is not None
    known = await queries.known_passkeys(tx, bound.user_id) if party.is_possible else []
    if not known:
        return None
    return _request(party, await begin(tx, bound), known)


async def offer_sign_in(tx: Transaction, party: Party, realm_id: int) -> RequestOptions:
    """What a browser asks for any passkey of this organization with. It is the same for everybody: it tells of no account."""
    party.check()
    return _request(party, await begin(tx, Bound(realm_id, SIGN_IN)), [])


def _request(party: Party, challenge: bytes, known: list[Known]) -> RequestOptions:
    verifies = all(one.is_verifying for one in known)
    return RequestOptions(
        text_of(challenge), SECONDS * 1000, party.id, descriptors(known), "required" if verifies else "preferred"
    )


def descriptors(known: list[Known]) -> list[Descriptor]:
    """Passkeys as browsers know them."""
    return [Descriptor(text_of(one.credential), one.transports) for one in known]


async def claim(database: Database, bound: Bound, client_data: str, *, status: int = 400) -> Claim:
    """Claim the challenge that was signed, whatever becomes of it; refuses one that was not made for that.

    In a transaction of its own: call it while holding none.
    """
    ticket = secrets.token_bytes(_CHALLENGE_BYTES)
    try:
        challenge = ceremony.challenge_in(client_data)
        async with database.transaction() as tx:
            if not await queries.claim_challenge(tx, _digest(challenge), bound, _digest(ticket)):
                raise NotVerified("there is no such challenge")
    except NotVerified as error:
        log.info("a challenge was refused", user_id=bound.user_id, purpose=bound.purpose, why=str(error))
        raise passkey_failed(status) from error
    await ceremony.load_library()
    return Claim(challenge, ticket, bound)


async def take(tx: Transaction, claimed: Claim) -> None:
    """Use a claimed challenge up; refuses one that was dropped meanwhile."""
    if not await queries.take_challenge(tx, _digest(claimed.ticket), claimed.bound):
        raise NotVerified("the challenge was dropped")


async def use_passkey(tx: Transaction, party: Party, claimed: Claim, used: Assertion, *, status: int = 400) -> None:
    """Take the word of a passkey for who somebody is whom the challenge is bound to; refuses everything else."""
    assert claimed.bound.user_id is not None
    await _use(tx, party, claimed, claimed.bound.user_id, used, status)


async def sign_in(tx: Transaction, party: Party, claimed: Claim, used: Assertion) -> int:
    """Who signs in by this passkey and nothing else: it has to name the account, and to have asked its owner.

    They are not deactivated before the commit.
    """
    try:
        user_id = await queries.find_owner(tx, claimed.bound.realm_id, bytes_of(used.raw_id))
    except NotVerified:
        user_id = None
    if user_id is None or used.response.user_handle is None:
        raise passkey_failed(401)
    await queries.hold_account(tx, user_id)
    await _use(tx, party, claimed, user_id, used, 401)
    return user_id


async def _use(tx: Transaction, party: Party, claimed: Claim, user_id: int, used: Assertion, status: int) -> None:
    purpose = claimed.bound.purpose
    try:
        await factors.lock_factor(tx, user_id)
        known = await queries.hold_passkey(tx, user_id, bytes_of(used.raw_id))
        await take(tx, claimed)
        if known is None:
            raise NotVerified("there is no such passkey")
        _check_handle(known, used)
        strict = known.is_verifying or purpose == SIGN_IN
        found = ceremony.check_used(party, claimed.challenge, used, known.public_key, must_verify=strict)
    except NotVerified as error:
        log.info("a passkey was refused", user_id=user_id, purpose=purpose, why=str(error))
        raise passkey_failed(status) from error
    if not await queries.note_use(tx, known.id, found.sign_count, is_synced=found.is_synced):
        log.warning(
            "a passkey was used whose count does not grow: it may be a copy", user_id=known.user_id, id=known.id
        )
        raise passkey_copied(status)


def _check_handle(known: Known, used: Assertion) -> None:
    """The authenticator may say whose passkey it is: then it has to be theirs."""
    said = used.response.user_handle
    if said is not None and not hmac.compare_digest(bytes_of(said), known.handle or b""):
        raise NotVerified("the passkey is of another account")


async def forget_old_challenges(database: Database) -> int:
    """Delete challenges that nobody has signed in time, in batches that hold no lock for long; returns how many."""
    return await in_batches(database, BATCH, lambda tx: queries.delete_expired(tx, BATCH))


def _digest(challenge: bytes) -> bytes:
    return hashlib.sha256(challenge).digest()


def passkey_failed(status: int) -> Refusal:
    """Not verified. Which of the many reasons it was helps nobody but who tries."""
    msg = "This passkey was not accepted. Try again, or sign in another way."
    return Refusal(msg, code="PASSKEY_FAILED", status=status)


def passkey_copied(status: int) -> Refusal:
    """The count of its uses does not grow."""
    msg = "This passkey seems to be a copy: remove it in your settings, and add a new one."
    return Refusal(msg, code="PASSKEY_FAILED", status=status)
