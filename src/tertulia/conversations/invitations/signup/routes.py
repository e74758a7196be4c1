"""Endpoints of signing up: for clients, and as plain pages behind the links in mails. Without authentication."""

from typing import Annotated
from urllib.parse import quote

import msgspec

from tertulia.content.webclient.files import BuiltFiles
from tertulia.conversations.invitations.rules import bad_key
from tertulia.conversations.invitations.signup import actions as signup
from tertulia.conversations.invitations.signup import pages
from tertulia.conversations.invitations.words import Words, words_of
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Call, Reply, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.languages import asked_language, language_for
from tertulia.kernel.limits import RateLimits
from tertulia.kernel.mail import check_mails_leave
from tertulia.kernel.page import show_text
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import external_methods, get_realm_of, realm_url
from tertulia.people.factors.actions import clear_newcomer
from tertulia.people.sessions.actions import begin_session
from tertulia.people.sessions.origin import check_same_origin
from tertulia.people.sessions.routes import Session
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.arrival import Arrival

Key = Annotated[str, msgspec.Meta(max_length=100)]


class Signup(msgspec.Struct):
    """What a key stands for."""

    realm_name: str
    email: str | None
    """Whose account it makes; null: of whoever tells an address (POST /signups) and confirms it."""
    invited_as: int
    inviter_full_name: str | None
    """Null: nobody invited them, everybody may join."""


@get("/signups/{key}")
async def get_signup(call: Call, database: Database, *, key: str) -> Signup:
    """Look at an invitation by the key in its link. Used, revoked, expired and unknown ones are answered alike."""
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
        terms = await signup.get_terms(reader, realm, key)
    return Signup(realm.name, terms.email, terms.invited_as, terms.inviter_name)


@post("/signups", limit="mail")
async def ask_to_sign_up(
    call: Call, database: Database, settings: Settings, limits: RateLimits, *, email: str, key: Key | None = None
) -> None:
    """Send a mail with a key for a new account to this address, which confirms that it is yours.

    `key` is that of a link from POST /invites/multiuse; without one, the organization must be open to everybody. The
    answer is the same if the address has an account already.
    """
    check_mails_leave(settings)
    realm = await _realm_of(call, database)
    email = signup.clean_address(realm, settings, email)
    # First of all: who may not ask here uses up nobody's mails.
    async with database.reader() as reader:
        await signup.find_invitation(reader, realm, email, key)
    if settings.rate_limits:
        await limits.spend_mail(call, "signup", realm.id, email_key_of(email))
    async with database.transaction() as tx:
        await signup.ask_for_key(tx, realm, email, key, realm_url(realm, call, settings))


@post("/signups/{key}")
async def sign_up(
    call: Call, database: Database, settings: Settings, arrival: Arrival,
    *, key: str, full_name: str, password: str,
) -> Session:  # fmt: skip
    """Make the account that a key from a mail stands for, and log this browser in, as POST /sessions does.

    The newcomer is subscribed to the channels of the invitation, and put into its groups.
    """
    check_same_origin(call, settings)
    realm = await _realm_of(call, database)
    name, password_hash = await signup.check_answer(database, settings, realm, key, full_name, password)
    language = asked_language(call.header("accept-language"))
    async with database.transaction() as tx:
        account = await signup.accept(tx, realm, arrival, key, name, password_hash, language)
        cleared = await clear_newcomer(tx, realm, account.id)
        csrf_token = await begin_session(tx, call, settings, account, cleared, by_password=True)
    return Session(account.id, account.email, csrf_token)


@get("/join", prefix="", listed=False)
async def show_open_form(
    call: Call, database: Database, settings: Settings, client: BuiltFiles, *, plain: bool = False
) -> Reply:
    """The page for those who have no invitation: of the web client, or, without one, a plain form."""
    if client.all() and not plain:
        return _go("/#join")
    realm = await _realm_of(call, database)
    words = _words(call, realm)
    try:
        signup.check_joinable(realm)
    except Refusal as refusal:
        return show_text(words.cannot_join, refusal.msg, refusal.status, language=words.language)
    return pages.address_form(words, realm.name, None, external_methods(realm, settings))


@get("/join/{key}", prefix="", listed=False)
async def show_join_form(
    call: Call, database: Database, settings: Settings, client: BuiltFiles, *, key: str, plain: bool = False
) -> Reply:
    """The page behind the link of an invitation: of the web client, or, without one, a plain form."""
    if client.all() and not plain:
        return _go(f"/#join/{quote(key, safe='')}")
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
        words = _words(call, realm)
        try:
            terms = await signup.get_terms(reader, realm, key)
        except Refusal as refusal:
            return show_text(words.cannot_join, refusal.msg, refusal.status, language=words.language)
    ways = external_methods(realm, settings)
    if not realm.settings.password_auth_enabled:
        return pages.ways_only(words, realm.name, key, ways)
    if terms.email is None:
        return pages.address_form(words, realm.name, key, ways)
    return pages.account_form(words, realm.name, key, terms.email, terms.inviter_name, ways)


@post("/join/address", prefix="", listed=False, limit="mail")
async def use_address_form(
    call: Call, database: Database, settings: Settings, limits: RateLimits, *, email: str, key: Key | None = None
) -> Reply:
    """As the endpoint of the API, with an answer for people."""
    words = _words(call, await _realm_of(call, database))
    try:
        await ask_to_sign_up(call, database, settings, limits, email=email, key=key or None)
    except Refusal as refusal:
        told = f"{refusal.msg} {words.try_again}"
        return show_text(words.no_mail_sent, told, refusal.status, language=words.language)
    return show_text(words.look_into_mail, words.look_into_mail_text, language=words.language)


@post("/join", prefix="", listed=False)
async def use_join_form(
    call: Call, database: Database, settings: Settings, arrival: Arrival,
    *, key: Key, full_name: str, password: str,
) -> Reply:  # fmt: skip
    """As the endpoint of the API, with an answer for people."""
    words = _words(call, await _realm_of(call, database))
    try:
        await sign_up(call, database, settings, arrival, key=key, full_name=full_name, password=password)
    except Refusal as refusal:
        spent = refusal.code == bad_key().code
        told = refusal.msg if spent else f"{refusal.msg} {words.try_again}"
        return show_text(words.no_account, told, refusal.status, language=words.language)
    return _go("/")


def _go(path: str) -> Reply:
    return Reply(b"", 303, {"Location": path, "Cache-Control": "no-store"}, "text/plain")


def _words(call: Call, realm: Realm) -> Words:
    return words_of(language_for(call.header("accept-language"), realm.settings.default_language))


async def _realm_of(call: Call, database: Database) -> Realm:
    async with database.reader() as reader:
        return await get_realm_of(call, reader)
