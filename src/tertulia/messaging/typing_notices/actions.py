"""Telling others that somebody started or stopped typing."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from tertulia.conversations.channels.access import ChannelFinder
from tertulia.conversations.channels.rules import no_such_channel
from tertulia.conversations.empty_topic import EMPTY_TOPIC
from tertulia.conversations.topics.rules import check_topic_policy, clean_topic
from tertulia.events.log.record import Audience, record
from tertulia.events.log.signals import Signals
from tertulia.kernel.auth import Caller
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.messaging.editing.rules import NO_GRACE, check_editable, check_may_edit
from tertulia.messaging.reading.access import Reached, access_message
from tertulia.messaging.typing_notices import queries
from tertulia.messaging.typing_notices.queries import Audible, ChannelKey, PersonKey, TypingParticipant
from tertulia.organization.realms.settings import RealmSettings, settings_of
from tertulia.people.users.queries import guests_missing
from tertulia.people.users.visibility.actions import hidden_from

Op = Literal["start", "stop"]
MAX_SUBSCRIBERS = 100
"""In larger channels nobody is told that somebody types: it would be too much on too many screens."""


class Typing:
    """Sends typing notices. Reads for concurrent requests in one query, and writes nothing to the database."""

    def __init__(self, database: Database, finder: ChannelFinder, signals: Signals) -> None:
        self._database = database
        self._finder = finder
        self._signals = signals
        self._channels: Coalescer[ChannelKey, Audible] = Coalescer(self._read_channels)
        self._people: Coalescer[PersonKey, TypingParticipant] = Coalescer(self._read_people)

    async def in_channel(self, caller: Caller, op: Op, channel_id: int, topic: str) -> None:
        """Tell the subscribers of a channel."""
        settings = settings_of(caller)
        topic = clean_topic(topic, settings)
        hearing = self._channels.load(ChannelKey(caller.user_id, channel_id))
        channel, heard = await self._finder.find(caller, channel_id), await hearing
        if channel is None or heard is None:
            raise no_such_channel(channel_id)
        if not channel.may_send:
            raise Refusal(f"You can't send messages to the channel '{channel.name}'.")
        check_topic_policy(topic, channel.topics_policy, settings)
        if not heard.tells:
            raise Refusal("You have turned off telling others that you write in channels, in your settings.")
        listeners = heard.listeners or ()
        if listeners and not channel.is_subscribed:
            # Guests who see only some people are not told of one who is not in the channel with them.
            async with self._database.reader() as reader:
                missing = await guests_missing(reader, caller.realm_id, channel_id, caller.user_id)
            listeners = tuple(user_id for user_id in listeners if user_id not in missing)
        if not listeners:
            return
        event: dict[str, object] = {
            "op": op,
            "message_type": "stream",
            "sender": {"user_id": caller.user_id, "email": caller.api_email},
            "stream_id": channel_id,
            "topic": topic,
        }
        if not topic:
            event[EMPTY_TOPIC] = settings.empty_topic_display_name
        audience = Audience(users=listeners, needs="stream_typing_notifications")
        await self._signals.send(caller.realm_id, record(audience, "typing", event))

    async def to_people(self, caller: Caller, op: Op, user_ids: Sequence[int]) -> None:
        """Tell the participants of a direct conversation, the writer's own other clients among them."""
        ids = sorted({*user_ids, caller.user_id})
        keys = [PersonKey(caller.realm_id, user_id, caller.fake_domain) for user_id in ids]
        found = dict(zip(ids, await asyncio.gather(*map(self._people.load, keys)), strict=True))
        hidden = await self._hidden_from(caller, ids)
        for user_id in user_ids:
            if found[user_id] is None or user_id in hidden:
                raise Refusal(f"Invalid user ID {user_id}.")
        people = [person for person in found.values() if person is not None]
        if not any(person.tells for person in people if person.id == caller.user_id):
            raise Refusal("You have turned off telling others that you write to them, in your settings.")
        event = {
            "op": op,
            "message_type": "direct",
            "sender": {"user_id": caller.user_id, "email": caller.api_email},
            "recipients": [{"user_id": person.id, "email": person.email} for person in people],
        }
        apart = await self._guests_apart(caller, people)
        listeners = (person.id for person in people if person.is_active and person.wants and person.id not in apart)
        audience = Audience(users=tuple(listeners))
        await self._signals.send(caller.realm_id, record(audience, "typing", event))

    async def over_message(self, caller: Caller, op: Op, message_id: int) -> None:
        """Tell those who have a message that its sender started or stopped editing it."""
        settings = settings_of(caller)
        async with self._database.reader() as reader:
            message = await access_message(reader, caller, message_id)
            check_editable(message, settings)
            place = message.conversation_id, message.seq
            heard = await queries.listeners_of_edit(reader, caller.user_id, place, MAX_SUBSCRIBERS)
            check_may_edit(message, caller.user_id, heard.now, settings, grace=NO_GRACE)
            if not heard.tells:
                raise Refusal("You have turned off telling others that you write, in your settings.")
            missing: tuple[int, ...] = ()
            if message.participants is None and not message.is_subscribed:
                missing = await guests_missing(reader, caller.realm_id, message.conversation_id, caller.user_id)
        listeners = tuple(user_id for user_id in heard.listeners if user_id not in missing)
        if listeners:
            event = {"op": op, "sender_id": caller.user_id, "message_id": message_id} | _recipient(message, settings)
            await self._signals.send(caller.realm_id, record(Audience(users=listeners), "typing_edit_message", event))

    async def _hidden_from(self, caller: Caller, user_ids: Sequence[int]) -> frozenset[int]:
        if not caller.is_guest:
            return frozenset()
        async with self._database.reader() as reader:
            return await hidden_from(reader, caller, user_ids)

    async def _guests_apart(self, caller: Caller, people: Sequence[TypingParticipant]) -> frozenset[int]:
        """Guests who would learn by it of people they do not see: nobody has written yet."""
        if not any(person.is_guest for person in people if person.id != caller.user_id):
            return frozenset()
        async with self._database.reader() as reader:
            apart = await queries.guests_apart(reader, caller.realm_id, [person.id for person in people])
        return apart - {caller.user_id}

    async def _read_channels(self, keys: Sequence[ChannelKey]) -> dict[ChannelKey, Audible]:
        async with self._database.reader() as reader:
            return await queries.channels(reader, keys, MAX_SUBSCRIBERS)

    async def _read_people(self, keys: Sequence[PersonKey]) -> dict[PersonKey, TypingParticipant]:
        async with self._database.reader() as reader:
            return await queries.people(reader, keys)


def _recipient(message: Reached, settings: RealmSettings) -> dict[str, object]:
    if message.participants is not None:
        return {"recipient": {"type": "direct", "user_ids": message.participants}}
    place: dict[str, object] = {
        "recipient": {"type": "channel", "channel_id": message.conversation_id, "topic": message.topic}
    }
    return place if message.topic else place | {EMPTY_TOPIC: settings.empty_topic_display_name}
