"""A new text for a message: written by its sender, rendered and searched for mentions as if it were sent now."""

from typing import Any, NamedTuple

from tertulia.conversations.read_state.marks import WILDCARDS, Facts
from tertulia.events.log.record import Audience
from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.files.uploads.links.actions import relink
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import full
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import server_not_ready
from tertulia.kernel.text import name_key_of
from tertulia.messaging.editing import queries
from tertulia.messaging.editing.bounds import EDITS
from tertulia.messaging.editing.holding import Held
from tertulia.messaging.editing.model import FormerMentions
from tertulia.messaging.editing.rules import check_may_edit
from tertulia.messaging.link_previews.actions import with_carried_over
from tertulia.messaging.mentions.queries import crowd_of
from tertulia.messaging.mentions.rules import check_crowd
from tertulia.messaging.reading.access import Reached
from tertulia.messaging.reading.model import Participant
from tertulia.messaging.sending.model import Composed, Place
from tertulia.messaging.sending.rules import is_me_message
from tertulia.organization.realms.settings import RealmSettings, settings_of


def place_of(message: Reached) -> Place:
    """Where a message is, as far as its text depends on it."""
    return Place(
        conversation_id=message.conversation_id,
        audience=Audience(),
        channel=message.channel,
        topic=message.topic,
        topic_key=None if message.topic is None else name_key_of(message.topic),
        people=tuple(Participant(user_id, "", "") for user_id in message.participants or ()),
    )


class Written(NamedTuple):
    """What a new text changed."""

    detached: list[AttachmentRecord]
    """Files that no message links any more."""
    event: dict[str, Any]
    """What `update_message` says of it."""
    former: FormerMentions
    """Whom the old one mentioned."""
    has_more: bool
    """It mentions others than the old one."""


async def write_text(tx: Transaction, caller: Caller, held: Held, text: Composed | None) -> Written:
    """Store a new text.

    Under the locks, when a crowd may have grown. None: when the text was prepared, it was the one the message had.
    """
    message = held.message
    check_may_edit(message, caller.user_id, held.rights.now, settings_of(caller))
    if text is None:
        raise server_not_ready("The message has just been changed. Please try again.")
    channel, topic = text.facts & Facts.CHANNEL_WILDCARD > 0, text.facts & Facts.TOPIC_WILDCARD > 0
    if message.topic is not None and (channel or topic):
        crowd = await crowd_of(tx, caller.user_id, message.conversation_id, name_key_of(message.topic))
        check_crowd(crowd, channel=channel, topic=topic)
    text = await with_carried_over(tx, caller, message, text)
    wildcard = await queries.write_text(tx, message, text, caller.user_id, held.rights.now)
    if wildcard is None:
        raise full(EDITS, tx.bounds.limit(EDITS))
    names = await queries.write_concerned(tx, message, text)
    groups = await queries.write_groups(tx, message.id, text.groups)
    unlinked = await relink(tx, caller, message.id, text.attached)
    if text.remote:
        await link_remote(tx, [(message.id, message.realm_id, one) for one in text.remote])
    event = {
        **_former_text(message, settings_of(caller)),
        "content": text.content,
        "rendered_content": text.html,
        "is_me_message": is_me_message(text.content),
    }
    former = FormerMentions(message.id, names.former, groups.former, wildcard)
    has_more = names.has_more or groups.has_more or bool(int(text.facts) & WILDCARDS & ~wildcard)
    return Written(unlinked, event, former, has_more)


def _former_text(message: Reached, settings: RealmSettings) -> dict[str, Any]:
    """What the text was, for organizations that show it in the history: a text taken back must not come by the event."""
    if settings.message_edit_history_visibility_policy != "all":
        return {}
    return {"orig_content": message.content, "orig_rendered_content": message.rendered}
