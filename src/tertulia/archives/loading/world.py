"""What names in texts stand for: read from the database when all that has a name is written."""

from array import array
from bisect import bisect_left

import msgspec

from tertulia.archives.form import kinds
from tertulia.archives.form.kinds import Record
from tertulia.archives.loading.beginning import Begun
from tertulia.archives.loading.rendering import Author, World
from tertulia.archives.loading.rules import known_settings
from tertulia.content.markup import (
    Channel,
    Context,
    CustomEmoji,
    Linkifier,
    MentionableGroup,
    MentionablePerson,
    wanted,
)
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.text import name_key_of
from tertulia.messaging.mentions.names import display_name
from tertulia.organization.custom_emoji.model import picture_url
from tertulia.organization.realms.settings import RealmSettings
from tertulia.people.users.queries import hidden_from_guest

_PEOPLE = """
select id, full_name, is_active, role, coalesce((settings->>'translate_emoticons')::boolean, false) as translates
from account where realm_id = $1
"""
_SUBSCRIBERS = """
select channel_id, array_agg(user_id) as people from subscription join channel on channel.id = channel_id
where realm_id = $1 and invite_only group by channel_id
"""
_OF_GUESTS = """
select user_id, array_agg(channel_id) as channels from subscription join account on account.id = user_id
where realm_id = $1 and role = $2 group by user_id
"""


class Topics:
    """Which messages each topic of the archive has: a link to a topic leads to the newest one that it had then."""

    def __init__(self) -> None:
        self._channels: dict[str, kinds.Channel] = {}
        self._topics: dict[tuple[int, str], int] = {}
        self._messages: dict[int, array[int]] = {}

    def see(self, record: Record) -> None:
        """One more line. Eight bytes are kept of a message."""
        match record:
            case kinds.Message() if record.topic_id is not None:
                self._messages[record.topic_id].append(record.id)
            case kinds.Channel():
                self._channels[name_key_of(record.name)] = record
            case kinds.ChannelTopic():
                self._topics[record.channel_id, name_key_of(record.name)] = record.id
                self._messages[record.id] = array("q")

    def linked_by(self, message: kinds.Message, shift: int) -> dict[tuple[str, str], int]:
        """Of the topics that a message links, by the channel's name and the topic's key: their newest message before it."""
        found = {}
        for name, key in wanted(message.content).topics:
            channel = self._channels.get(name_key_of(name))
            topic = None if channel is None else self._topics.get((channel.id, key))
            if channel is None or topic is None:
                continue
            ids = self._messages[topic]
            if place := bisect_left(ids, message.id):
                found[channel.name, key] = ids[place - 1] + shift
        return found


async def read_world(
    database: Database, begun: Begun, organization: kinds.Organization, sources: list[str], url: str
) -> World:
    """All of it but files, which are asked for with the messages that link them."""
    settings = msgspec.convert(known_settings(organization.settings, RealmSettings, "The organization"), RealmSettings)
    realm_id = begun.realm_id
    async with database.reader() as reader:
        people = await reader.fetch(_PEOPLE, realm_id)
        hidden = await _hidden(reader, realm_id, {row["id"]: row["role"] for row in people})
        groups = await reader.fetch(
            "select id, name, is_deactivated from user_group where realm_id = $1 and name is not null", realm_id
        )
        channels = await reader.fetch("select id, name, name_key from channel where realm_id = $1", realm_id)
        closed = await reader.fetch(_SUBSCRIBERS, realm_id)
        of_guests = await reader.fetch(_OF_GUESTS, realm_id, int(Role.GUEST))
        base = Context(
            realm_id=realm_id,
            realm_url=url,
            picture_key=await reader.fetchval("select settings->>'_picture_key' from realm where id = $1", realm_id),
            custom_emoji=await _emoji(reader, realm_id),
            linkifiers=await _linkifiers(reader, realm_id),
            default_code_language=settings.default_code_block_language,
            previews_images=settings.inline_image_preview,
            empty_topic_name=settings.empty_topic_display_name,
            is_old=True,
        )
        private = await reader.fetch("select id from channel where realm_id = $1 and invite_only", realm_id)
    return World(
        realm_id=realm_id,
        base=base,
        shifts=begun.shifts,
        old_realm_id=organization.id,
        sources=sources,
        people=[MentionablePerson(row["id"], row["full_name"], row["is_active"]) for row in people],
        authors={
            row["id"]: Author(row["role"], row["translates"], hidden.get(row["id"], frozenset())) for row in people
        },
        groups={
            row["name"]: MentionableGroup(row["id"], row["name"], display_name(row["name"]), not row["is_deactivated"])
            for row in groups
        },
        channels={row["name_key"]: Channel(row["id"], row["name"]) for row in channels},
        closed={row["id"]: frozenset[int]() for row in private}
        | {row["channel_id"]: frozenset(row["people"]) for row in closed},
        guest_channels={row["user_id"]: frozenset(row["channels"]) for row in of_guests},
    )


async def _hidden(reader: Reader, realm_id: int, roles: dict[int, int]) -> dict[int, frozenset[int]]:
    sql = "select exists (select from realm_permission where realm_id = $1 and setting = 'can_access_all_users_group')"
    guests = [id for id, role in roles.items() if role == Role.GUEST]
    if not guests or not await reader.fetchval(sql, realm_id):
        return {}
    return {guest: await hidden_from_guest(reader, realm_id, guest, list(roles)) for guest in guests}


async def _emoji(reader: Reader, realm_id: int) -> tuple[CustomEmoji, ...]:
    sql = "select name, file_name from custom_emoji where realm_id = $1 and not is_deactivated"
    rows = await reader.fetch(sql, realm_id)
    return tuple(CustomEmoji(row["name"], picture_url(realm_id, row["file_name"])) for row in rows)


async def _linkifiers(reader: Reader, realm_id: int) -> tuple[Linkifier, ...]:
    sql = "select pattern, url_template from linkifier where realm_id = $1 order by position, id"
    return tuple(Linkifier(**row) for row in await reader.fetch(sql, realm_id))
