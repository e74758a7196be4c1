"""What can be done with one's passkeys: they are added, renamed and removed."""

import secrets

import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.mail import one_line
from tertulia.organization.audit_log import Act, Proved, note, user
from tertulia.organization.realms.queries import Realm
from tertulia.people.factors.actions import Somebody, renew_recovery_codes, tell
from tertulia.people.factors.bounds import PASSKEYS
from tertulia.people.factors.passkeys import ceremony, queries, use
from tertulia.people.factors.passkeys.ceremony import NotVerified, text_of
from tertulia.people.factors.passkeys.model import (
    CreationOptions,
    NewCredential,
    Parameter,
    PasskeyUser,
    RelyingParty,
)
from tertulia.people.factors.passkeys.party import Party
from tertulia.people.factors.passkeys.queries import Bound
from tertulia.people.factors.passkeys.use import Claim
from tertulia.people.factors.queries import delete_totp, end_factor, lock_factor

log = structlog.get_logger()

HANDLE_BYTES = 32
_TRANSPORTS = frozenset({"ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"})


async def begin_adding(tx: Transaction, realm: Realm, party: Party, who: Somebody, credential: int) -> CreationOptions:
    """What a browser makes a passkey with. Whoever asks has proved who they are."""
    party.check()
    await lock_factor(tx, who.user_id)
    await check_count(tx, PASSKEYS, who.user_id)
    known = await queries.known_passkeys(tx, who.user_id)
    handle = await queries.get_handle(tx, who.user_id, secrets.token_bytes(HANDLE_BYTES))
    challenge = await use.begin(tx, Bound(realm.id, use.ADD, who.user_id, credential))
    return CreationOptions(
        RelyingParty(party.id, realm.name),
        PasskeyUser(text_of(handle), who.email, who.full_name),
        text_of(challenge),
        [Parameter(algorithm) for algorithm in ceremony.ALGORITHMS],
        use.SECONDS * 1000,
        use.descriptors(known),
    )


async def claim(database: Database, caller: Caller, new: NewCredential) -> Claim:
    """Claim the challenge that a passkey was made for, before `add`."""
    bound = Bound(caller.realm_id, use.ADD, caller.user_id, caller.credential)
    return await use.claim(database, bound, new.response.client_data)


async def add(
    tx: Transaction, realm: Realm, party: Party, who: Somebody, claimed: Claim, label: str, new: NewCredential
) -> tuple[int, list[str]]:
    """Add the passkey that was made; returns its id, and recovery codes if it is the first factor."""
    label = clean_label(label)
    factor = await lock_factor(tx, who.user_id)
    await check_count(tx, PASSKEYS, who.user_id)
    try:
        await use.take(tx, claimed)
        made = ceremony.check_made(party, claimed.challenge, new)
    except NotVerified as error:
        raise use.passkey_failed(400) from error
    transports = sorted(_TRANSPORTS & set(new.response.transports))
    passkey_id = await queries.insert_passkey(tx, who.user_id, made, label, transports)
    if passkey_id is None:
        raise Refusal("This passkey is known already.")
    codes: list[str] = []
    if not factor.is_on:
        await queries.drop_challenges(tx, who.user_id, use.ADD)  # whoever began them had less to prove
        await delete_totp(tx, who.user_id)  # nor is one confirmed that was begun before
        codes = await renew_recovery_codes(tx, who.user_id)
    await tell(
        tx,
        realm,
        who,
        lambda words: words.first_passkey_added if codes else words.passkey_added,
        label=one_line(label),
    )
    note(tx, realm.id, Act.FACTOR_ADDED, user(who.user_id), Proved(who.user_id))
    return passkey_id, codes


async def rename(tx: Transaction, user_id: int, passkey_id: int, label: str) -> None:
    """Rename a passkey."""
    if not await queries.rename_passkey(tx, user_id, passkey_id, clean_label(label)):
        raise no_such_passkey()


async def remove(tx: Transaction, realm: Realm, who: Somebody, passkey_id: int) -> None:
    """Remove a passkey. With the last factor the recovery codes go."""
    factor = await lock_factor(tx, who.user_id)
    label = await queries.delete_passkey(tx, who.user_id, passkey_id)
    if label is None:
        raise no_such_passkey()
    is_last = factor.passkeys == 1 and not factor.has_totp
    if is_last:
        await end_factor(tx, who.user_id)
    await queries.drop_challenges(tx, who.user_id, use.ADD)
    await tell(
        tx,
        realm,
        who,
        lambda words: words.last_passkey_removed if is_last else words.passkey_removed,
        label=one_line(label),
    )
    note(tx, realm.id, Act.FACTOR_REMOVED, user(who.user_id), Proved(who.user_id))
    log.info("a passkey was removed", user_id=who.user_id, is_last=is_last)


def clean_label(label: str) -> str:
    """A name as it is kept; refuses an empty one."""
    cleaned = " ".join(label.split())
    if not cleaned:
        raise Refusal("A passkey needs a name.")
    return cleaned


def no_such_passkey() -> Refusal:
    """Somebody else's looks like one that does not exist."""
    return Refusal("You have no such passkey.")
