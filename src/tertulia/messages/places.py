"""Where a message goes: the one way from an address to a conversation, refusing what the sender cannot reach.

In steps, because what is asked for is checked before what is said: `look` finds what the address names, `enter` asks
whether the sender may write there. The sending statement asks again, under its locks. Only `open`, when the message is
to be stored, begins a direct conversation: it shows, because people in one see each other.
"""

from collections.abc import Mapping, Sequence

import msgspec

from tertulia.bots.model import BotType
from tertulia.bots.queries import sending_channel_of
from tertulia.channels.access import ChannelFinder
from tertulia.channels.model import Channel
from tertulia.channels.rules import clean_channel_name, name_key_of, no_such_channel
from tertulia.channels.sight import tell_met
from tertulia.events.record import Audience
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.messages import queries
from tertulia.messages.model import Person
from tertulia.messages.queries import Recipient
from tertulia.messages.rules import ToChannel, ToPeople, direct_refused
from tertulia.messages.statements import channel_seen
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import check_topic_policy, clean_topic
from tertulia.users.addresses import id_of_fake_email
from tertulia.users.model import view_of
from tertulia.users.queries import email_key_of, guests_missing
from tertulia.users.visibility import hidden_from

NOT_BEGUN = 0


class People(msgspec.Struct, frozen=True):
    """Everybody in a direct conversation, the sender included, by id."""

    everybody: dict[int, Recipient]


class Place(msgspec.Struct, frozen=True):
    """A conversation a message may be sent to, and who will hear it."""

    conversation_id: int
    """NOT_BEGUN: a direct conversation that is not there yet."""
    audience: Audience
    channel: str | None = None
    topic: str | None = None
    topic_key: str | None = None
    empty_topic: str = ""
    """If the topic is the empty one: how the realm names it."""
    people: tuple[Person, ...] = ()
    channel_seen: str | None = None
    hidden_from: tuple[int, ...] = ()
    """Guests who will hear it and do not see the sender."""
    webhooks: tuple[int, ...] = ()
    """Outgoing-webhook bots among the people of a direct conversation."""

    @property
    def is_channel(self) -> bool:
        """A channel, not a set of people."""
        return self.channel is not None


class Places:
    """Finds conversations for senders."""

    def __init__(self, database: Database, channels: ChannelFinder) -> None:
        self._database = database
        self._channels = channels

    async def look(self, sender: Caller, address: ToChannel | ToPeople) -> ToChannel | People:
        """What the address names, as it is stored; a Refusal if that can be nothing, or nobody the sender sees."""
        if isinstance(address, ToPeople):
            return await self._look_for_people(sender, address)
        return ToChannel(address.channel, clean_topic(address.topic, decode_settings(sender.realm_settings)))

    async def enter(self, sender: Caller, target: ToChannel | People) -> Place:
        """The place to write to; a Refusal if the sender may not."""
        if isinstance(target, People):
            return await self._enter_conversation(sender, target.everybody)
        return await self._enter_channel(sender, target)

    async def open(self, sender: Caller, place: Place) -> Place:
        """The place with its conversation, begun now if there was none."""
        if place.conversation_id != NOT_BEGUN:
            return place
        async with self._database.transaction() as tx:
            made, is_new = await queries.make_direct_conversation(tx, sender.realm_id, place.audience.users)
            if is_new:
                await tell_met(tx, sender.realm_id, made)
        return msgspec.structs.replace(place, conversation_id=made)

    async def default_channel(self, sender: Caller) -> int | None:
        """Where a bot sends that names no channel."""
        async with self._database.reader() as reader:
            return await sending_channel_of(reader, sender.user_id)

    async def find_sent(self, sender: Caller, key: str) -> tuple[int, int | None] | None:
        """The message that was sent with this Idempotency-Key, and the policy it brought."""
        async with self._database.reader() as reader:
            return await queries.find_sent(reader, sender.user_id, key)

    async def _enter_channel(self, sender: Caller, target: ToChannel) -> Place:
        named = target.channel if isinstance(target.channel, int) else clean_channel_name(target.channel)
        channel = await self._channels.find(sender, named)
        if channel is None:
            raise no_such_channel(named)
        if not channel.may_post:
            raise Refusal(f"You don't have the permission to post in the channel '{channel.name}'.")
        if not channel.may_send:
            raise Refusal(f"You can't send messages to the channel '{channel.name}'.")
        settings = decode_settings(sender.realm_settings)
        if not channel.may_create_topic:
            await self._check_topic_exists(channel, target.topic)
        check_topic_policy(target.topic, channel.topics_policy, settings)
        return Place(
            conversation_id=channel.id,
            audience=Audience(channel=channel.id, public=channel.is_public),
            channel=channel.name,
            topic=target.topic,
            topic_key=name_key_of(target.topic),
            empty_topic="" if target.topic else settings.empty_topic_display_name,
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

    async def _look_for_people(self, sender: Caller, address: ToPeople) -> People:
        fakes = {email: id_of_fake_email(email, sender.fake_domain) for email in address.emails}
        ids = [*address.ids, *(user_id for user_id in fakes.values() if user_id is not None)]
        keys = [email_key_of(email) for email in address.emails]
        async with self._database.reader() as reader:
            found = await queries.find_recipients(reader, view_of(sender), ids, keys)
            hidden = await hidden_from(reader, sender, [person.id for person in found])
        seen = [person for person in found if person.id not in hidden]
        check_recipients(address, fakes, seen)
        people = {person.id: person for person in seen}
        people[sender.user_id] = Recipient(sender.user_id, sender.api_email, sender.full_name, is_active=True)
        return People({user_id: people[user_id] for user_id in sorted(people)})

    async def _enter_conversation(self, sender: Caller, people: dict[int, Recipient]) -> Place:
        participants = list(people)
        async with self._database.reader() as reader:
            conversation_id, refusal = await queries.direct_place(reader, sender.realm_id, sender.user_id, participants)
        if refusal is not None:
            gone = next((one.email for one in people.values() if not one.is_active), "")
            raise direct_refused(refusal, gone)
        return Place(
            conversation_id=NOT_BEGUN if conversation_id is None else conversation_id,
            audience=Audience(users=tuple(participants)),
            people=tuple(Person(one.id, one.email, one.full_name) for one in people.values()),
            webhooks=tuple(one.id for one in people.values() if one.bot_type == BotType.OUTGOING_WEBHOOK),
        )


def check_recipients(address: ToPeople, fakes: Mapping[str, int | None], found: Sequence[Recipient]) -> None:
    """Refuse recipients who do not exist. `fakes`: whose made-up address is among those given."""
    ids = {person.id for person in found}
    for user_id in address.ids:
        if user_id not in ids:
            raise Refusal(f"There is no user with the ID {user_id}.")
    keys = {person.found_by for person in found}
    for email in address.emails:
        if email_key_of(email) not in keys and fakes[email] not in ids:
            raise Refusal(f"There is no user with the email address '{email}'.")
