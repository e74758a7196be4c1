"""Sending a message."""

import msgspec

from tertulia.events.record import record
from tertulia.kernel.auth import Caller
from tertulia.kernel.errors import Refusal
from tertulia.messages.composing import Composed, Composer
from tertulia.messages.lane import SendLane
from tertulia.messages.mentions.vocabulary import notes_of
from tertulia.messages.model import Echo, MessageSent, Outgoing, Sent
from tertulia.messages.places import Place, Places
from tertulia.messages.rules import ToChannel, ToPeople, clean_content, is_read_by_sender
from tertulia.messages.statements import CHANNEL_WILDCARD, TOPIC_WILDCARD
from tertulia.realms.settings import decode_settings

ATTEMPTS = 4
"""How often a message is judged anew because what it was judged by had changed before it was stored."""


class Draft(msgspec.Struct, frozen=True):
    """What a sender wants to say, and how."""

    address: ToChannel | ToPeople
    content: str
    client: str
    echo: Echo | None = None
    read: bool | None = None
    key: str | None = None
    read_by: int | None = None
    """Somebody else than the sender for whom it is born read."""


class Sending(msgspec.Struct, frozen=True):
    """What sending takes."""

    places: Places
    composer: Composer
    lane: SendLane

    async def send(self, sender: Caller, draft: Draft) -> Sent:
        """Send a message; answers once it is committed."""
        for _ in range(ATTEMPTS):
            try:
                message = await self.prepare(sender, draft)
            except Refusal:
                # A repeat gets the first answer, whatever has become of the sender's rights since.
                if draft.key is not None and (first := await self.places.find_sent(sender, draft.key)) is not None:
                    return Sent(*first)
                raise
            sent = await self.lane.send(message)
            if sent is not None:
                return sent
            # Something changed between the look and the write: say what is true now.
        raise Refusal("You can't send messages to this conversation.")

    async def prepare(self, sender: Caller, draft: Draft) -> Outgoing:
        """Everything up to the write; refuses what the sender may not send."""
        place, text = await self._consider(sender, draft)
        return outgoing(sender, await self.places.open(sender, place), draft, text)

    async def judge(self, sender: Caller, draft: Draft) -> Outgoing:
        """As `prepare`, for a message that is not sent now: nothing is begun, so it may not be stored as it is."""
        place, text = await self._consider(sender, draft)
        return outgoing(sender, place, draft, text)

    async def _consider(self, sender: Caller, draft: Draft) -> tuple[Place, Composed]:
        target = await self.places.look(sender, draft.address)
        content = clean_content(draft.content)
        place = await self.places.enter(sender, target)
        return place, await self.composer.compose(sender, place, content)


def outgoing(sender: Caller, place: Place, draft: Draft, text: Composed) -> Outgoing:
    """The row and the event of a message."""
    read_by = sender.user_id if is_read_by_sender(draft.read, draft.client) else draft.read_by
    sent = MessageSent(
        sender_id=sender.user_id,
        sender_full_name=sender.full_name,
        sender_email=sender.api_email,
        avatar_url=sender.avatar_url,
        realm=sender.subdomain,
        client=draft.client,
        content=text.content,
        rendered=text.html,
        conversation_id=place.conversation_id,
        channel=place.channel,
        people=place.people,
        empty_topic=place.empty_topic,
        read_by=read_by,
        echo=draft.echo,
        wildcard=text.facts & (CHANNEL_WILDCARD | TOPIC_WILDCARD),
        mentioned=text.mentioned,
        group_mentioned=text.group_mentioned,
        hidden_from=place.hidden_from,
        fake_domain=sender.fake_domain if place.hidden_from else "",
        topic_links=text.topic_links,
        widget=text.widget,
    )
    return Outgoing(
        realm_id=sender.realm_id,
        conversation_id=place.conversation_id,
        sender_id=sender.user_id,
        topic=place.topic,
        topic_key=place.topic_key,
        content=text.content,
        rendered=text.html,
        client=draft.client,
        record=msgspec.json.encode(record(place.audience, "message", sent)).decode(),
        read_by=read_by,
        key=draft.key,
        settings=decode_settings(sender.realm_settings),
        facts=text.facts,
        channel_seen=place.channel_seen,
        widget=text.widget,
        mentioned=text.mentioned,
        groups=text.groups,
        alerting=text.alerting,
        # Bots do not call bots: two of them would never stop.
        webhooks=() if sender.is_bot else text.webhooks if place.is_channel else place.webhooks,
        may_push=notes_of(sender.realm_settings).has_pushes,
        attached=text.attached,
    )
