"""Beginning an organization: its name, its first channels, its owner."""

from collections.abc import Sequence

import msgspec
import structlog

from tertulia.conversations.channels.actions import create_channel
from tertulia.conversations.channels.actions.defaults import add_default, hold_defaults, welcome
from tertulia.conversations.channels.first_words import say_first_words
from tertulia.conversations.channels.queries import open_by_name
from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.invitations.signup.actions import clean_address
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.changing.actions import change_settings, clean_about
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.waiting import check_waiting, take_key
from tertulia.people.logins.login import check_login_allowed
from tertulia.people.logins.queries import Account, get_account
from tertulia.people.users.actions import create_user
from tertulia.people.users.password_words import words_of
from tertulia.people.users.passwords import check_strength, hash_password
from tertulia.people.users.rules import clean_full_name

log = structlog.get_logger()


class Beginning(msgspec.Struct, frozen=True):
    """What the owner chose."""

    realm_name: str
    email: str
    full_name: str
    password_hash: str
    channels: Sequence[str]
    """The first is where everybody is greeted; newcomers are subscribed to all."""
    language: str
    """The owner's, and the organization's."""


class BeginningRequest(msgspec.Struct, frozen=True):
    """The same as it was typed."""

    realm_name: str
    email: str
    full_name: str
    password: str
    channels: Sequence[str]
    language: str | None
    """That of the browser, if it asks for one of ours."""


async def check_request(
    database: Database, settings: Settings, realm: Realm, key: str, request: BeginningRequest
) -> Beginning:
    """What an organization can begin with. The key comes first: without it nothing is worked out."""
    async with database.reader() as reader:
        await check_waiting(reader, realm, key)
        words = await words_of(reader, realm.id, settings)
    check_login_allowed(realm, has_directory=False)
    realm_name = clean_about("name", request.realm_name.strip())
    email = clean_address(realm, settings, request.email)
    full_name = clean_full_name(request.full_name)
    await check_strength(request.password, (*words, realm_name), email, full_name)
    hashed = await hash_password(request.password, settings)
    language = request.language or realm.settings.default_language
    return Beginning(realm_name, email, full_name, hashed, request.channels, language)


async def begin(tx: Transaction, realm: Realm, key: str, beginning: Beginning) -> tuple[Account, int, str]:
    """Make the organization what its owner wants; returns the owner, and the channel and the language they are greeted in.

    The realm's row is held first, against the order of locks: nobody is there who could hold another.
    """
    await take_key(tx, realm.id, key)
    await change_settings(tx, realm.id, {"name": beginning.realm_name, "default_language": beginning.language})
    first, is_new = await begin_channels(tx, realm.id, beginning.channels)
    channels = await hold_defaults(tx, realm.id)
    user_id = await create_user(
        tx, realm.id, beginning.email, beginning.full_name, Role.OWNER, password_hash=beginning.password_hash
    )
    await welcome(tx, realm.id, user_id, channels)
    log.info("an organization was begun", realm_id=realm.id, user_id=user_id)
    return await get_account(tx, user_id), first, beginning.language if is_new else realm.settings.default_language


async def begin_channels(tx: Transaction, realm_id: int, names: Sequence[str]) -> tuple[int, bool]:
    """The first channels of an organization, in which everybody lands who joins.

    Returns that with a topic to begin with, and whether its first words are said now: it may have been there with them.
    """
    # Whoever runs the server may have made some already, with their first words.
    there = await open_by_name(tx, realm_id, [name_key_of(name) for name in names])
    left = dict(there)  # each is named once
    channels = []
    for name in names:
        channel_id = left.pop(name_key_of(name), None) or await create_channel(tx, realm_id, name)
        await add_default(tx, realm_id, channel_id)
        channels.append(channel_id)
    is_new = channels[0] not in there.values()
    if is_new:
        await say_first_words(tx, realm_id, channels[0])
    return channels[0], is_new
