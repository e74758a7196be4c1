"""A new text for a message: written by its sender, rendered and searched for mentions as if it were sent now."""

from typing import Any

from tertulia.edits import queries
from tertulia.edits.model import Rights
from tertulia.events.record import Audience
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.text import name_key_of
from tertulia.messages.access import Reached
from tertulia.messages.composing import Composed, Composer
from tertulia.messages.mentions.queries import crowd_of
from tertulia.messages.model import Person
from tertulia.messages.places import Place
from tertulia.messages.rules import check_crowd, is_me_message
from tertulia.messages.statements import CHANNEL_WILDCARD, TOPIC_WILDCARD
from tertulia.uploads.links import relink
from tertulia.uploads.model import AttachmentRecord


async def compose(composer: Composer, caller: Caller, message: Reached, content: str) -> Composed:
    """What a text becomes; before any lock is taken. Refuses mentions that the caller may not make."""
    place = Place(
        conversation_id=message.conversation_id,
        audience=Audience(),
        channel=message.channel,
        topic=message.topic,
        topic_key=None if message.topic is None else name_key_of(message.topic),
        people=tuple(Person(user_id, "", "") for user_id in message.participants or ()),
    )
    return await composer.compose(caller, place, content)


async def write(
    tx: Transaction, caller: Caller, message: Reached, text: Composed, rights: Rights
) -> tuple[list[AttachmentRecord], dict[str, Any]]:
    """Store the text; the files that no message links any more, and what `update_message` says of it.

    Under the locks, when a crowd may have grown.
    """
    channel, topic = text.facts & CHANNEL_WILDCARD > 0, text.facts & TOPIC_WILDCARD > 0
    if message.topic is not None and (channel or topic):
        crowd = await crowd_of(tx, caller.user_id, message.conversation_id, name_key_of(message.topic))
        check_crowd(crowd, channel=channel, topic=topic)
    await queries.write_text(tx, message, text, caller.user_id, rights.now)
    await queries.write_concerned(tx, message, text)
    await queries.write_groups(tx, message.id, text.groups)
    return await relink(tx, caller, message.id, text.attached), {
        "orig_content": message.content,
        "orig_rendered_content": message.rendered,
        "content": text.content,
        "rendered_content": text.html,
        "is_me_message": is_me_message(text.content),
    }
