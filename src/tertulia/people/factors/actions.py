"""What can be done with second factors: they are set up, used and taken away. Passkeys come and go in `passkeys/actions.py`."""

import base64
import secrets
import time
from collections.abc import Callable

import msgspec
import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.mail import one_line, queue_mail
from tertulia.organization.audit_log import Act, Proved, note, user
from tertulia.organization.notices.queries import language_of
from tertulia.organization.realms.queries import Realm
from tertulia.people.factors import queries, totp
from tertulia.people.factors.passkeys import use as passkeys
from tertulia.people.factors.passkeys.party import Party
from tertulia.people.factors.passkeys.queries import Bound, delete_passkeys, drop_challenges
from tertulia.people.factors.passkeys.use import Claim
from tertulia.people.factors.queries import Factor
from tertulia.people.factors.rules import clean_code, is_required
from tertulia.people.factors.stored_secret import open_secret, seal_secret
from tertulia.people.factors.words import Words, words_of
from tertulia.people.users.assertion import Assertion

log = structlog.get_logger()

RECOVERY_CODES = 10
_RECOVERY_BYTES = 20


class Somebody(msgspec.Struct, frozen=True):
    """Whose factor it is."""

    user_id: int
    email: str
    full_name: str


def somebody_of(caller: Caller) -> Somebody:
    """The caller, as far as their second factor is concerned."""
    return Somebody(caller.user_id, caller.email, caller.full_name)


class Cleared(msgspec.Struct, frozen=True):
    """Says that a login of this user needs nothing more. Made in this module only; a test looks for others."""

    user_id: int
    recovery_codes: tuple[str, ...] = ()
    """Those of a factor that was set up with this very login."""


class SecondStep(msgspec.Struct, frozen=True):
    """What somebody shows beside their password."""

    code: str | None = None
    passkey: Assertion | None = None
    party: Party | None = None
    """Whom the passkey has to be for; None: passkeys do not count here."""


NO_STEP = SecondStep()


class Setup(msgspec.Struct, frozen=True):
    """A secret for an authenticator: `uri` is what a QR code says, `secret` what is typed."""

    secret: str
    uri: str


REQUIRED = "SECOND_FACTOR_REQUIRED"
SETUP_REQUIRED = "SECOND_FACTOR_SETUP_REQUIRED"


class CodeNeeded(Refusal):
    """The login is right so far, and needs a code."""

    def __init__(self, msg: str, code: str, user_id: int) -> None:
        super().__init__(msg, code=code, status=401)
        self.user_id = user_id


async def claim_step(database: Database, realm: Realm, user_id: int, step: SecondStep) -> Claim | None:
    """Claim the challenge that the passkey of a second step has signed, if it is one by a passkey; before `clear`."""
    if step.passkey is None or step.party is None:
        return None
    bound = Bound(realm.id, passkeys.SECOND_STEP, user_id)
    return await passkeys.claim(database, bound, step.passkey.response.client_data, status=401)


async def clear(
    tx: Transaction, realm: Realm, who: Somebody, step: SecondStep = NO_STEP, claimed: Claim | None = None
) -> Cleared:
    """Let somebody in who has shown that they know the password, or refuse. A step by a passkey has been claimed."""
    factor = await queries.get_factor(tx, who.user_id)
    required = is_required(realm.settings, factor.role)
    if not factor.is_on:
        return await _clear_without(tx, realm, who, factor, step.code) if required else Cleared(who.user_id)
    if step.passkey is not None and step.party is not None:
        assert claimed is not None
        assert claimed.bound.user_id == who.user_id
        await passkeys.use_passkey(tx, step.party, claimed, step.passkey, status=401)
    elif step.code is not None:
        await use_code(tx, who.user_id, step.code, status=401)
    else:
        raise code_needed(who.user_id)
    return Cleared(who.user_id)


async def clear_by_passkey(tx: Transaction, party: Party, claimed: Claim, used: Assertion) -> Cleared:
    """Let somebody in by a passkey alone: it is something they have, and asked for something they are or know."""
    return Cleared(await passkeys.sign_in(tx, party, claimed, used))


async def offer_passkeys(tx: Transaction, realm: Realm, party: Party, needed: CodeNeeded) -> None:
    """Say in the refusal what would do as the second step, with a challenge for the passkeys of who knows the password."""
    options = await passkeys.offer(tx, party, Bound(realm.id, passkeys.SECOND_STEP, needed.user_id))
    needed.extra["methods"] = ["code", *["passkey"] * (options is not None)]
    if options is not None:
        needed.extra["passkey"] = options


async def _clear_without(tx: Transaction, realm: Realm, who: Somebody, factor: Factor, code: str | None) -> Cleared:
    """Who should have a factor and has none: there is some time for it, then it is set up with the login."""
    if not factor.is_due and realm.settings.second_factor_grace_days > 0:
        await queries.begin_grace(tx, who.user_id, realm.settings.second_factor_grace_days)
        return Cleared(who.user_id)
    if code is None or factor.secret is None:
        raise setup_needed(who.user_id)
    return Cleared(who.user_id, tuple(await confirm_setup(tx, realm, who, code, status=401)))


async def clear_newcomer(tx: Transaction, realm: Realm, user_id: int) -> Cleared:
    """Let somebody in whose account was just made: with this session they set up what the organization asks for."""
    factor = await queries.get_factor(tx, user_id)
    if is_required(realm.settings, factor.role):
        await queries.begin_grace(tx, user_id, realm.settings.second_factor_grace_days)
    return Cleared(user_id)


def trust(user_id: int) -> Cleared:
    """Let somebody in whom a provider has checked that is trusted to ask for a factor of its own."""
    return Cleared(user_id)


async def use_code(tx: Transaction, user_id: int, code: str, *, status: int = 400) -> None:
    """Use a code of the authenticator or a recovery code up; refuses a wrong one, and one that was used."""
    factor, typed = await queries.lock_factor(tx, user_id), clean_code(code)
    if factor.has_totp and factor.secret is not None:
        step = totp.step_of(open_secret(tx, factor.secret), typed, time.time())
        if step is not None and await queries.use_step(tx, user_id, step):
            return
    if factor.is_on and await queries.use_recovery_code(tx, user_id, digest_of_key(typed)):
        tx.respect_freeze()  # a code that was used would be good once more where the organization goes
        log.info("a recovery code was used", user_id=user_id, left=factor.codes_left - 1)
        left = (factor.codes_left, factor.codes_left - 1)
        realm_id = await queries.realm_of(tx, user_id)
        note(tx, realm_id, Act.RECOVERY_CODE_USED, user(user_id), Proved(user_id), codes_left=left)
        return
    raise wrong_code(status)


async def begin_setup(tx: Transaction, realm: Realm, who: Somebody) -> Setup:
    """A new secret, which counts once a code confirms it."""
    if (await queries.lock_factor(tx, who.user_id)).has_totp:
        raise Refusal("You have an authenticator already: remove it first.")
    secret = secrets.token_bytes(totp.SECRET_BYTES)
    await queries.put_secret(tx, who.user_id, seal_secret(tx, secret))
    return Setup(totp.secret_text(secret), totp.uri_of(secret, realm.name, who.email))


async def confirm_setup(tx: Transaction, realm: Realm, who: Somebody, code: str, *, status: int = 400) -> list[str]:
    """Let the secret count from now on, as the authenticator knows it; returns the recovery codes."""
    factor = await queries.lock_factor(tx, who.user_id)
    if factor.secret is None or factor.is_confirmed:
        raise Refusal("There is no authenticator to confirm: begin again.")
    step = totp.step_of(open_secret(tx, factor.secret), clean_code(code), time.time())
    if step is None or not await queries.use_step(tx, who.user_id, step):
        raise wrong_code(status)
    await queries.confirm(tx, who.user_id)
    await drop_challenges(tx, who.user_id, passkeys.ADD)  # whoever began them had less to prove
    await tell(tx, realm, who, lambda words: words.turned_on)
    note(tx, realm.id, Act.FACTOR_ADDED, user(who.user_id), Proved(who.user_id))
    return await renew_recovery_codes(tx, who.user_id)


async def renew_recovery_codes(tx: Transaction, user_id: int) -> list[str]:
    """Other recovery codes, in place of those of before. This is the only moment they are known."""
    codes = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    await queries.put_recovery_codes(tx, user_id, [digest_of_key(code) for code in codes])
    realm_id = await queries.realm_of(tx, user_id)
    note(tx, realm_id, Act.RECOVERY_CODES_RENEWED, user(user_id), Proved(user_id))
    return ["-".join(code[i : i + 4] for i in range(0, len(code), 4)) for code in codes]


async def remove_totp(tx: Transaction, realm: Realm, who: Somebody) -> None:
    """Take somebody's authenticator away. Recovery codes stay as long as there is a passkey."""
    factor = await queries.lock_factor(tx, who.user_id)
    if not factor.has_totp:
        raise Refusal("You have no authenticator.")
    if factor.passkeys:
        await queries.delete_totp(tx, who.user_id)
    else:
        await queries.end_factor(tx, who.user_id)
    await drop_challenges(tx, who.user_id, passkeys.ADD)
    await tell(tx, realm, who, lambda words: words.turned_off_but_passkey if factor.passkeys else words.turned_off)
    note(tx, realm.id, Act.FACTOR_REMOVED, user(who.user_id))
    log.info("a second factor was removed", user_id=who.user_id)


async def remove(tx: Transaction, realm: Realm, who: Somebody) -> None:
    """Take all of somebody's factors away, passkeys too, as the operator. The days that they have begin anew."""
    await queries.lock_factor(tx, who.user_id)
    had_passkeys = await delete_passkeys(tx, who.user_id) > 0
    had_totp = await queries.delete_factor(tx, who.user_id)
    await drop_challenges(tx, who.user_id, passkeys.ADD)
    if had_passkeys or had_totp:
        await tell(tx, realm, who, lambda words: words.all_removed if had_passkeys else words.turned_off)
        note(tx, realm.id, Act.FACTOR_REMOVED, user(who.user_id))
        log.info("all second factors were removed", user_id=who.user_id)


async def tell(tx: Transaction, realm: Realm, who: Somebody, what: Callable[[Words], str], **more: str) -> None:
    """Tell somebody by mail, in their language, what became of their second factors."""
    words, organization = words_of(await language_of(tx, who.user_id)), one_line(realm.name)
    body = what(words).format(name=one_line(who.full_name), realm=organization, **more)
    await queue_mail(tx, who.email, words.subject.format(realm=organization), body)


def code_needed(user_id: int) -> CodeNeeded:
    """The password is right; the same call with a code would succeed."""
    msg = "Logging in to this account needs a code of the authenticator as well, or a recovery code: send it as `code`."
    return CodeNeeded(msg, REQUIRED, user_id)


def setup_needed(user_id: int) -> CodeNeeded:
    """The password is right, but the organization asks for a factor."""
    msg = "Your organization asks for a second factor, and you have none yet: set one up to log in."
    return CodeNeeded(msg, SETUP_REQUIRED, user_id)


def wrong_code(status: int) -> Refusal:
    """A wrong or used code. 401 where somebody logs in; who is logged in stays so."""
    return Refusal("Wrong code. Wait for the next one, and try again.", code="SECOND_FACTOR_FAILED", status=status)
