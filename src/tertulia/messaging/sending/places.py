"""Where a message goes: the one way from an address to a conversation, refusing what the sender cannot reach.

`reach` finds what the address names and asks whether the sender may write there; the sending statement asks again, under
its locks. Only `open`, when the message is to be stored, begins a direct conversation: it shows, because people in one
see each other.
"""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.channels.access import ChannelFinder
from tertulia.conversations.channels.model import Channel
from tertulia.conversations.channels.rules import clean_channel_name, name_key_of, no_such_channel
from tertulia.conversations.channels.visibility import tell_met
from tertulia.conversations.topics.rules import check_topic_policy, clean_topic
from tertulia.events.log.record import Audience
from tertulia.kernel.auth import BotType, Caller
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import TimeBudgets, too_often
from tertulia.messaging.reading.model import Participant
from tertulia.messaging.sending import queries
from tertulia.messaging.sending.model import NOT_BEGUN, Place
from tertulia.messaging.sending.queries import Recipient
from tertulia.messaging.sending.rules import ToChannel, ToPeople, direct_refused, no_such_user
from tertulia.messaging.sending.statements import channel_seen
from tertulia.organization.realms.settings import settings_of
from tertulia.people.bots.queries import sending_channel_of
from tertulia.people.users.addresses import Named, named_by
from tertulia.people.users.model import view_of
from tertulia.people.users.queries import guests_missing
from tertulia.people.users.visibility.actions import hidden_from

PAIR = 2
NEW_COMPANY, NEW_COMPANY_PER_SECOND = 10_000, 1_000 / 3600
"""In the group conversations that one person, with their bots, begins in this process there are so many people together, at first
and later. Each of them has the conversation in their lists for good, and whoever begins others all the time fills these."""


class Places:
    """Finds conversations for senders."""

    def __init__(self, database: Database, channels: ChannelFinder) -> None:
        self._database = database
        self._channels = channels
        self._company = TimeBudgets(NEW_COMPANY, NEW_COMPANY_PER_SECOND)

    async def reach(self, sender: Caller, address: ToChannel | ToPeople) -> Place:
        """The place to write to; a Refusal if it is nowhere the sender knows, or if they may not write there."""
        if isinstance(address, ToPeople):
            return await self._reach_people(sender, address)
        return await self._reach_channel(sender, address)

    async def open(self, sender: Caller, place: Place) -> Place:
        """The place with its conversation, begun now if there was none."""
        if place.conversation_id != NOT_BEGUN:
            return place
        people, payer = place.audience.users, str(sender.person_id)
        is_group = len(people) > PAIR
        if is_group and (wait := self._company.wait(payer)):
            raise too_often(wait)
        async with self._database.transaction() as tx:
            made, is_new = await queries.make_direct_conversation(tx, sender.realm_id, people)
            if is_new:
                await tell_met(tx, sender.realm_id, made)
        if is_group and is_new:
            self._company.spend(payer, len(people))
        return msgspec.structs.replace(place, conversation_id=made)

    async def default_channel(self, sender: Caller) -> int | None:
        """Where a bot sends that names no channel."""
        async with self._database.reader() as reader:
            return await sending_channel_of(reader, sender.user_id)

    async def find_sent(self, sender: Caller, key: str) -> tuple[int, int | None] | None:
        """The message that was sent with this Idempotency-Key, and the policy it brought."""
        async with self._database.reader() as reader:
            return await queries.find_sent(reader, sender.user_id, key)

    async def _reach_channel(self, sender: Caller, address: ToChannel) -> Place:
        settings = settings_of(sender)
        topic = clean_topic(address.topic, settings)
        named = address.channel if isinstance(address.channel, int) else clean_channel_name(address.channel)
        channel = await self._channels.find(sender, named)
        if channel is None:
            raise no_such_channel(named)
        if not channel.may_post:
            raise Refusal(f"You don't have the permission to post in the channel '{channel.name}'.")
        if not channel.may_send:
            raise Refusal(f"You can't send messages to the channel '{channel.name}'.")
        if not channel.may_create_topic:
            await self._check_topic_exists(channel, topic)
        check_topic_policy(topic, channel.topics_policy, settings)
        return Place(
            conversation_id=channel.id,
            audience=Audience(channel=channel.id, public=channel.is_public),
            channel=channel.name,
            topic=topic,
            topic_key=name_key_of(topic),
            empty_topic="" if topic else settings.empty_topic_display_name,
            channel_seen=channel_seen(channel),
            hidden_from=() if channel.is_subscribed else await self._hidden_from(sender, channel),
        )

    async def _check_topic_exists(self, channel: Channel, topic: str) -> None:
        async with self._database.reader() as reader:
            if not await queries.has_messages(reader, channel.id, name_key_of(topic)):
                raise Refusal(f"You don't have the permission to start topics in the channel '{channel.name}'.")

    async def _hidden_from(self, sender: Caller, channel: Channel) -> tuple[int, ...]:
        async with self._database.reader() as reader:
            return tuple(await guests_missing(reader, sender.realm_id, channel.id, sender.user_id))

    async def _reach_people(self, sender: Caller, address: ToPeople) -> Place:
        async with self._database.reader() as reader:
            people = await _find_people(reader, sender, address)
            participants = tuple(sorted(people))
            conversation_id, refusal = await queries.direct_place(reader, sender.realm_id, sender.user_id, participants)
        everybody = [people[user_id] for user_id in participants]
        if refusal is not None:
            raise direct_refused(refusal, next((one.email for one in everybody if not one.is_active), ""))
        return Place(
            conversation_id=NOT_BEGUN if conversation_id is None else conversation_id,
            audience=Audience(users=participants),
            people=tuple(Participant(one.id, one.email, one.full_name) for one in everybody),
            webhooks=tuple(one.id for one in everybody if one.bot_type == BotType.OUTGOING_WEBHOOK),
        )


async def _find_people(reader: Reader, sender: Caller, address: ToPeople) -> dict[int, Recipient]:
    """Everybody in a direct conversation, the sender included; a Refusal if the sender does not see one of them."""
    by_address = named_by(address.emails, sender.fake_domain)
    ids, keys = [*address.ids, *by_address.user_ids.values()], list(by_address.keys.values())
    found = await queries.find_recipients(reader, view_of(sender), ids, keys)
    hidden = await hidden_from(reader, sender, [person.id for person in found])
    seen = [person for person in found if person.id not in hidden]
    check_recipients(address, by_address, seen)
    me = Recipient(sender.user_id, sender.api_email, sender.full_name, is_active=True)
    return {person.id: person for person in (*seen, me)}


def check_recipients(address: ToPeople, by_address: Named, found: Sequence[Recipient]) -> None:
    """Refuse recipients who do not exist."""
    ids = {person.id for person in found}
    for user_id in address.ids:
        if user_id not in ids:
            raise no_such_user(user_id)
    for email in by_address.unknown(ids, {person.found_by for person in found}):
        raise Refusal(f"There is no user with the email address '{email}'.")
