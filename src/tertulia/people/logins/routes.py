"""Endpoints of the logins feature. All but POST /fetch_api_key and the regeneration of keys are of our own."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import Call, Reply, delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.languages import language_for
from tertulia.kernel.limits import RateLimits
from tertulia.kernel.mail import check_mails_leave, mails_leave
from tertulia.kernel.page import show_text
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import get_realm_of, realm_url
from tertulia.people.logins import email_change, keys, page, queries, reset
from tertulia.people.logins.login import PasswordLogin, check_login_allowed
from tertulia.people.logins.words import Words, words_of
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.reauthentication import Proof, Reauthentication
from tertulia.people.users.rules import is_email

Token = Annotated[str, msgspec.Meta(max_length=100)]


class FetchedKey(msgspec.Struct):
    """The answer of POST /fetch_api_key."""

    api_key: str
    email: str
    user_id: int


class Keys(msgspec.Struct):
    """The answer of GET /users/me/api_keys."""

    api_keys: list[queries.ApiKey]


class NewKey(msgspec.Struct):
    """A key that was just made; it is not shown again."""

    api_key: str


class Confirmed(msgspec.Struct):
    """The answer of POST /accounts/email/confirm."""

    is_changed: bool


@post("/fetch_api_key", while_frozen=True)
async def fetch_api_key(
    call: Call, database: Database, login: PasswordLogin, *, username: str, password: str
) -> FetchedKey:
    """Exchange a password for a new API key of this device. No authentication header.

    After five wrong passwords for one user name from one network within half an hour, the answer is 429 there for a while.
    """
    realm = await _realm_of(call, database)
    key, account = await login.fetch_key(realm, username, password, call)
    return FetchedKey(key, account.email, account.id)


@get("/users/me/api_keys")
async def get_api_keys(caller: Person, reader: Reader) -> Keys:
    """Your API keys: not the keys themselves, of which only a digest is stored, but where and when they were made and used.

    `label` is the program, `address` where the key was made from; `last_used` is exact to the hour; `is_current`: the one of
    this call.
    """
    return Keys(await queries.keys_of(reader, caller.user_id, caller.key_id))


@delete("/users/me/api_keys/{key_id}")
async def revoke_api_key(
    caller: Person,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    key_id: int,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> None:
    """Revoke one of your API keys, at once and everywhere. Any but the one of this very call needs the password."""
    if key_id != caller.key_id and not caller.is_bot:
        async with database.reader() as reader:
            if not await queries.has_key(reader, caller.user_id, key_id):
                raise Refusal("You have no such API key.")
        await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        await keys.revoke_key(tx, caller, key_id)


@post("/users/me/api_key/regenerate")
async def regenerate_api_key(
    caller: Person,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> NewKey:
    """Replace the API key this call was made with by a new one. Your other keys stay valid.

    A browser's session has no key: it gets one more, and has to send the password, because a key outlives the session.
    """
    await again.check_session(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        key = await keys.regenerate_key(tx, caller, call.client)
        await queries.note_key_address(tx, digest_of_key(key), call.peer)
    return NewKey(key)


@post("/accounts/password/reset", limit="mail")
async def ask_for_password_reset(
    call: Call, database: Database, settings: Settings, limits: RateLimits, *, email: str
) -> None:
    """Send a link for a new password to this address, if it has an account. The answer is the same if not."""
    check_mails_leave(settings)
    realm = await _realm_with_passwords(call, database)
    email = email.strip()
    if not is_email(email):
        raise Refusal("Enter a valid email address.")
    if settings.rate_limits:
        async with database.reader() as reader:
            is_sent = await reset.is_sent(reader, realm, email)
        await limits.spend_mail(call, "password-reset", realm.id, email_key_of(email), is_sent=is_sent)
    url = f"{realm_url(realm, call, settings)}/accounts/password/reset"
    async with database.transaction() as tx:
        await reset.ask_for_reset(tx, realm, email, url)


@post("/accounts/password/reset/confirm")
async def confirm_password_reset(
    call: Call, database: Database, settings: Settings, *, token: Token, new_password: str
) -> None:
    """Set a new password with the token from a mail. All API keys, sessions and other tokens of the account are revoked."""
    realm = await _realm_with_passwords(call, database)
    await reset.use_token(database, settings, realm, token, new_password)


@get("/accounts/password/reset/{token}", prefix="", listed=False)
async def show_password_form(call: Call, database: Database, settings: Settings, *, token: str) -> Reply:
    """The page behind the link in the mail, which says whose password is chosen, or that the link is no longer good."""
    realm = await _realm_with_passwords(call, database)
    return await _password_form(call, database, settings, realm, token)


@post("/accounts/password/reset/confirm", prefix="", listed=False)
async def use_password_form(
    call: Call, database: Database, settings: Settings, *, token: Token, new_password: str
) -> Reply:
    """As the endpoint of the API, with an answer for people."""
    realm = await _realm_of(call, database)
    try:
        await confirm_password_reset(call, database, settings, token=token, new_password=new_password)
    except Refusal as refusal:
        return await _password_form(call, database, settings, realm, token, refusal)
    return page.is_set(_words(call, realm))


@post("/accounts/email/confirm")
async def confirm_email_change(call: Call, database: Database, *, token: Token) -> Confirmed:
    """Agree to a new email address, with the token from a mail: one was sent to the new address, one to the old.

    `is_changed`: both have agreed, and the account has the new address.
    """
    realm = await _realm_of(call, database)
    async with database.transaction() as tx:
        return Confirmed(await email_change.confirm_change(tx, realm, token))


@get("/accounts/email/confirm/{token}", prefix="", listed=False)
async def show_email_button(call: Call, database: Database, *, token: str) -> Reply:
    """The page behind the link in the mail. It does not say whether the token is valid."""
    realm = await _realm_of(call, database)
    return page.confirmation(_words(call, realm), realm.name, token)


@post("/accounts/email/confirm", prefix="", listed=False)
async def use_email_button(call: Call, database: Database, *, token: Token) -> Reply:
    """As the endpoint of the API, with an answer for people."""
    words = _words(call, await _realm_of(call, database))
    try:
        confirmed = await confirm_email_change(call, database, token=token)
    except Refusal as refusal:
        return show_text(words.address_kept, refusal.msg, refusal.status, language=words.language)
    if not confirmed.is_changed:
        return show_text(words.other_address, words.other_address_text, language=words.language)
    return show_text(words.address_set, words.address_set_text, language=words.language)


async def _password_form(
    call: Call, database: Database, settings: Settings, realm: Realm, token: str, refusal: Refusal | None = None
) -> Reply:
    """The form, with what was wrong with the password that was tried; or that the link is no longer good."""
    async with database.reader() as reader:
        account = await queries.find_reset_owner(reader, realm.id, digest_of_key(token))
    words = _words(call, realm)
    if account is None:
        return page.is_spent(words, by_mail=mails_leave(settings))
    return page.form(words, realm.name, token, account.email, refusal)


def _words(call: Call, realm: Realm) -> Words:
    return words_of(language_for(call.header("accept-language"), realm.settings.default_language))


async def _realm_of(call: Call, database: Database) -> Realm:
    async with database.reader() as reader:
        return await get_realm_of(call, reader)


async def _realm_with_passwords(call: Call, database: Database) -> Realm:
    realm = await _realm_of(call, database)
    check_login_allowed(realm, has_directory=False)
    return realm
