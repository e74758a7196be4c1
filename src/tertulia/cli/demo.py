"""The demo organization of `tertulia dev`: made once, shown at every start.

Everything is made in one transaction. The credentials are written to their file just before the commit: they exist
nowhere else in readable form. A file without its realm (the commit failed) is simply made again.
"""

import secrets
from pathlib import Path
from typing import NamedTuple

import msgspec

from tertulia.cli.errors import CommandFailed
from tertulia.conversations.channels.actions import create_channel, subscribe
from tertulia.kernel.auth import BotType, Role
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.private_files import write_private
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.actions import create_realm
from tertulia.organization.realms.queries import find_realm
from tertulia.people.sessions.actions import make_ticket
from tertulia.people.users.actions import create_api_key, create_user
from tertulia.people.users.passwords import hash_password

SUBDOMAIN = ""
REALM_NAME = "Café Tertulia"


class DemoUser(msgspec.Struct, frozen=True):
    user_id: int
    email: str
    password: str | None
    api_key: str
    role: int


class DemoChannel(msgspec.Struct, frozen=True):
    stream_id: int
    name: str


class Demo(msgspec.Struct, frozen=True):
    realm_id: int
    users: list[DemoUser]
    channels: list[DemoChannel]
    has_talked: bool = False


class _Person(NamedTuple):
    name: str
    full_name: str
    role: Role
    channels: str


class _Channel(NamedTuple):
    name: str
    description: str
    invite_only: bool = False


_CHANNELS = (
    _Channel("general", "Everything that has no better place."),
    _Channel("kitchen", "Coffee, cake and who does the dishes."),
    _Channel("website", "The new site, from first sketch to launch."),
    _Channel("board", "Money and plans, for those who have to worry.", invite_only=True),
)
_PEOPLE = (
    _Person("ines", "Inés Aldecoa", Role.OWNER, "general kitchen website board"),
    _Person("anton", "Anton Weber", Role.ADMINISTRATOR, "general kitchen website board"),
    _Person("mairead", "Mairéad Byrne", Role.MODERATOR, "general kitchen website"),
    _Person("kofi", "Kofi Mensah", Role.MEMBER, "general kitchen website"),
    _Person("yuki", "Yuki Tanaka", Role.MEMBER, "general kitchen board"),
    _Person("lea", "Léa Fournier", Role.MEMBER, "general website"),
    _Person("gil", "Gil, who visits", Role.GUEST, "website"),
)
_BOT = _Person("builder-bot", "Builder", Role.MEMBER, "website")


async def ensure_demo(settings: Settings, file: Path) -> Demo:
    """The demo realm of this database and the credentials in this file; both are made if missing."""
    async with await Database.connect(
        settings.postgres_url, shards=settings.shards, size=2, sealer=sealer_of(settings)
    ) as database:
        async with database.reader() as reader:
            realm = await find_realm(reader, SUBDOMAIN)
        kept = _read(file)
        if realm is not None:
            if kept is None or kept.realm_id != realm.id:
                raise CommandFailed(f"The demo people's credentials are missing in {file}. Start again with --fresh.")
            return kept
        async with database.transaction() as tx:
            demo = await _make(tx, settings)
            keep(demo, file)
        return demo


async def make_login_path(settings: Settings, demo: Demo) -> str:
    """Where a browser is logged in once as the owner."""
    async with (
        await Database.connect(
            settings.postgres_url, shards=settings.shards, size=2, sealer=sealer_of(settings)
        ) as database,
        database.transaction() as tx,
    ):
        return f"/accounts/login/link/{await make_ticket(tx, demo.users[0].user_id)}"


def keep(demo: Demo, file: Path) -> None:
    write_private(file, msgspec.json.format(msgspec.json.encode(demo)))


def _read(file: Path) -> Demo | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Demo)
    except FileNotFoundError:
        return None


async def _make(tx: Transaction, settings: Settings) -> Demo:
    realm_id = await create_realm(tx, SUBDOMAIN, REALM_NAME, "A place to try things out.")
    users = [await _make_user(tx, settings, realm_id, person) for person in _PEOPLE]
    owner = users[0]
    users.append(await _make_user(tx, settings, realm_id, _BOT, owner_id=owner.user_id))
    channels = []
    for channel in _CHANNELS:
        channel_id = await create_channel(
            tx,
            realm_id,
            channel.name,
            creator_id=owner.user_id,
            invite_only=channel.invite_only,
            description=channel.description,
        )
        channels.append(DemoChannel(channel_id, channel.name))
    for made in channels:
        inside = [
            user.user_id
            for user, person in zip(users, (*_PEOPLE, _BOT), strict=True)
            if made.name in person.channels.split()
        ]
        await subscribe(tx, realm_id, [made.stream_id], inside)
    return Demo(realm_id, users, channels)


async def _make_user(
    tx: Transaction, settings: Settings, realm_id: int, person: _Person, owner_id: int | None = None
) -> DemoUser:
    email = f"{person.name}@example.com"
    password = secrets.token_hex(5) if owner_id is None else None  # bots have none
    user_id = await create_user(
        tx,
        realm_id,
        email,
        person.full_name,
        person.role,
        password_hash=None if password is None else await hash_password(password, settings),
        bot_type=None if owner_id is None else BotType.GENERIC,
        bot_owner_id=owner_id,
    )
    key = await create_api_key(tx, user_id, "tertulia dev")
    return DemoUser(user_id, email, password, key, int(person.role))
