"""Sending a message: where to, may they, what does it become, store it.

The order of refusals is that of the steps: what is wrong with the address comes before what is wrong with the text.
"""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.channels.access import ChannelFinder
from tertulia.conversations.read_state.marks import WILDCARDS
from tertulia.events.log.record import record
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.messaging.sending.composing import Composer
from tertulia.messaging.sending.lane import SendLane
from tertulia.messaging.sending.model import Composed, MessageSent, Outgoing, Place, SendRequest, Sent
from tertulia.messaging.sending.places import Places
from tertulia.messaging.sending.rules import clean_content, is_read_by_sender
from tertulia.messaging.sending.storing import SideEffect, Storing

ATTEMPTS = 4
"""How often a message is judged anew because what it was judged by had changed before it was stored."""


class Sending(msgspec.Struct, frozen=True):
    """Sends messages."""

    places: Places
    composer: Composer
    storing: Storing
    lane: SendLane

    @classmethod
    def open(
        cls, database: Database, channels: ChannelFinder, settings: Settings, side_effects: Sequence[SideEffect]
    ) -> "Sending":
        """All that sending takes; `side_effects` are what features above this one do for each message that is sent."""
        storing = Storing(side_effects)
        lane = SendLane(database, storing)
        return cls(Places(database, channels), Composer(database, settings), storing, lane)

    async def close(self) -> None:
        """Finish what is under way."""
        await self.lane.close()

    async def send(self, sender: Caller, request: SendRequest) -> Sent:
        """Send a message; answers once it is committed."""
        for attempt in range(ATTEMPTS):
            try:
                # Whether so many may be mentioned is judged where it is stored. If it was refused there, that may be why.
                message = await self.prepare(sender, request, counts_crowd=attempt > 0)
            except Refusal:
                # A repeat gets the first answer, whatever has become of the sender's rights since.
                if request.key is not None and (first := await self.places.find_sent(sender, request.key)) is not None:
                    return Sent(*first)
                raise
            sent = await self.lane.send(message)
            if sent is not None:
                return sent
            # Something changed between the look and the write: say what is true now.
        raise Refusal("You can't send messages to this conversation.")

    async def prepare(
        self, sender: Caller, request: SendRequest, *, for_later: bool = False, counts_crowd: bool = True
    ) -> Outgoing:
        """Everything up to the write; refuses what the sender may not send.

        `for_later`: it is not sent now. No conversation is begun for it, so it may not be stored as it is.
        """
        place = await self.places.reach(sender, request.address)
        text = await self.composer.compose(sender, place, clean_content(request.content), counts_crowd=counts_crowd)
        if not for_later:
            place = await self.places.open(sender, place)
        return outgoing(sender, place, text, request)


def outgoing(sender: Caller, place: Place, text: Composed, request: SendRequest) -> Outgoing:
    """A message that may be sent: what its listeners get, and what only the statement needs."""
    sent = MessageSent(
        sender_id=sender.user_id,
        sender_full_name=sender.full_name,
        sender_email=sender.api_email,
        avatar_url=sender.avatar_url,
        realm=sender.subdomain,
        client=request.client,
        content=text.content,
        rendered=text.html,
        conversation_id=place.conversation_id,
        channel=place.channel,
        people=place.people,
        empty_topic=place.empty_topic,
        read_by=sender.user_id if is_read_by_sender(request.read, request.client) else request.read_by,
        echo=request.echo,
        wildcard=text.facts & WILDCARDS,
        mentioned=text.mentioned,
        group_mentioned=text.group_mentioned,
        hidden_from=place.hidden_from,
        fake_domain=sender.fake_domain if place.hidden_from else "",
        topic_links=text.topic_links,
        widget=text.widget,
    )
    encoded = msgspec.json.encode(record(place.audience, "message", sent)).decode()
    return Outgoing(sender, place, text, sent, encoded, request.key, request.is_notice)
