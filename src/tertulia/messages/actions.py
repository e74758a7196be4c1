"""Sending a message."""

import msgspec

from tertulia.events.record import record
from tertulia.kernel.auth import Caller
from tertulia.kernel.errors import Refusal
from tertulia.messages.lane import SendLane
from tertulia.messages.model import Echo, MessageSent, Outgoing
from tertulia.messages.places import Place, Places
from tertulia.messages.rules import ToChannel, ToPeople, clean_content, is_read_by_sender, render_plain


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


async def send(places: Places, lane: SendLane, sender: Caller, draft: Draft) -> int:
    """Send a message; its id, once it is committed."""
    content = clean_content(draft.content)
    try:
        place = await places.reach(sender, draft.address)
    except Refusal:
        # A repeat gets the first answer, whatever has become of the sender's rights since.
        if draft.key is not None and (first := await places.find_sent(sender, draft.key)) is not None:
            return first
        raise
    message_id = await lane.send(outgoing(sender, place, draft, content))
    if message_id is None:
        # The rights changed between the look and the write: say what is true now.
        await places.reach(sender, draft.address)
        raise Refusal("You can't send messages to this conversation.")
    return message_id


def outgoing(sender: Caller, place: Place, draft: Draft, content: str) -> Outgoing:
    """The row and the event of a message."""
    rendered = render_plain(content)
    read_by = sender.user_id if is_read_by_sender(draft.read, draft.client) else draft.read_by
    sent = MessageSent(
        sender_id=sender.user_id,
        sender_full_name=sender.full_name,
        sender_email=sender.api_email,
        avatar_version=sender.avatar_version,
        realm=sender.subdomain,
        client=draft.client,
        content=content,
        rendered=rendered,
        conversation_id=place.conversation_id,
        channel=place.channel,
        people=place.people,
        empty_topic=place.empty_topic,
        read_by=read_by,
        echo=draft.echo,
    )
    return Outgoing(
        realm_id=sender.realm_id,
        conversation_id=place.conversation_id,
        sender_id=sender.user_id,
        topic=place.topic,
        topic_key=place.topic_key,
        content=content,
        rendered=rendered,
        client=draft.client,
        record=msgspec.json.encode(record(place.audience, "message", sent)).decode(),
        read_by=read_by,
        key=draft.key,
    )
