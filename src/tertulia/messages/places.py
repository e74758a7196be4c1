"""Where a message goes: the one way from an address to a conversation, refusing what the sender cannot reach."""

from collections.abc import Mapping, Sequence

import msgspec

from tertulia.channels.access import ChannelFinder
from tertulia.channels.rules import clean_channel_name, name_key_of, no_such_channel
from tertulia.events.record import Audience
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.messages import queries
from tertulia.messages.model import Person
from tertulia.messages.queries import Recipient
from tertulia.messages.rules import ToChannel, ToPeople
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import check_topic_policy, clean_topic
from tertulia.users.addresses import id_of_fake_email
from tertulia.users.model import view_of
from tertulia.users.queries import email_key_of
from tertulia.users.sight import tell_met
from tertulia.users.visibility import hidden_from


class Place(msgspec.Struct, frozen=True):
    """A conversation a message may be sent to, and who will hear it."""

    conversation_id: int
    audience: Audience
    channel: str | None = None
    topic: str | None = None
    topic_key: str | None = None
    empty_topic: str = ""
    """If the topic is the empty one: how the realm names it."""
    people: tuple[Person, ...] = ()


class Places:
    """Finds conversations for senders."""

    def __init__(self, database: Database, channels: ChannelFinder) -> None:
        self._database = database
        self._channels = channels

    async def reach(self, sender: Caller, address: ToChannel | ToPeople) -> Place:
        """The place of an address; a Refusal if there is none for this sender."""
        if isinstance(address, ToChannel):
            return await self._channel(sender, address)
        return await self._people(sender, address)

    async def find_sent(self, sender: Caller, key: str) -> int | None:
        """The message that was sent with this Idempotency-Key."""
        async with self._database.reader() as reader:
            return await queries.find_sent(reader, sender.user_id, key)

    async def _channel(self, sender: Caller, address: ToChannel) -> Place:
        settings = decode_settings(sender.realm_settings)
        topic = clean_topic(address.topic, settings)
        named = address.channel if isinstance(address.channel, int) else clean_channel_name(address.channel)
        channel = await self._channels.find(sender, named)
        if channel is None:
            raise no_such_channel(named)
        if not channel.may_post:
            raise Refusal(f"You don't have the permission to post in the channel '{channel.name}'.")
        if not channel.may_send:
            raise Refusal(f"You can't send messages to the channel '{channel.name}'.")
        check_topic_policy(topic, channel.topics_policy, settings)
        return Place(
            conversation_id=channel.id,
            audience=Audience(channel=channel.id, public=channel.is_public),
            channel=channel.name,
            topic=topic,
            topic_key=name_key_of(topic),
            empty_topic="" if topic else settings.empty_topic_display_name,
        )

    async def _people(self, sender: Caller, address: ToPeople) -> Place:
        async with self._database.reader() as reader:
            fakes = {email: id_of_fake_email(email, sender.fake_domain) for email in address.emails}
            ids = [*address.ids, *(user_id for user_id in fakes.values() if user_id is not None)]
            keys = [email_key_of(email) for email in address.emails]
            found = await queries.find_recipients(reader, view_of(sender), ids, keys)
            hidden = await hidden_from(reader, sender, [person.id for person in found])
            recipients = [person for person in found if person.id not in hidden]
            check_recipients(address, fakes, recipients)
            people = {person.id: person for person in recipients}
            people[sender.user_id] = Recipient(sender.user_id, sender.api_email, sender.full_name, is_active=True)
            participants = sorted(people)
            conversation_id = await queries.find_direct_conversation(reader, sender.realm_id, participants)
        if conversation_id is None:
            async with self._database.transaction() as tx:
                conversation_id, is_new = await queries.make_direct_conversation(tx, sender.realm_id, participants)
                if is_new:
                    await tell_met(tx, sender.realm_id, conversation_id)
        return Place(
            conversation_id=conversation_id,
            audience=Audience(users=tuple(participants)),
            people=tuple(Person(one.id, one.email, one.full_name) for one in (people[id] for id in participants)),
        )


def check_recipients(address: ToPeople, fakes: Mapping[str, int | None], found: Sequence[Recipient]) -> None:
    """Refuse recipients who do not exist or are gone. `fakes`: whose made-up address is among those given."""
    ids = {person.id for person in found}
    for user_id in address.ids:
        if user_id not in ids:
            raise Refusal(f"There is no user with the ID {user_id}.")
    keys = {person.found_by for person in found}
    for email in address.emails:
        if email_key_of(email) not in keys and fakes[email] not in ids:
            raise Refusal(f"There is no user with the email address '{email}'.")
    for person in found:
        if not person.is_active:
            raise Refusal(f"'{person.email}' is deactivated and no longer reads messages here.")
