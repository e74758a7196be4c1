"""Pure decisions about changing messages."""

import hashlib
from datetime import datetime, timedelta

import msgspec

from tertulia.edits.model import Rights, Wish
from tertulia.kernel.auth import Role
from tertulia.kernel.errors import Refusal
from tertulia.markup import find_widget
from tertulia.messages.access import Reached
from tertulia.messages.rules import clean_content
from tertulia.realms.settings import RealmSettings
from tertulia.topics.rules import RESOLVED, clean_topic

GRACE = timedelta(seconds=20)
"""A change is sent a little after it was decided: the limit a person sees is not the one they fail at."""
NO_GRACE = timedelta()
DELETED = "(deleted)"
"""What stands for a text whose author removed all of it."""


def cleaned(wish: Wish, settings: RealmSettings) -> Wish:
    """The wish with its text and topic as they would be stored."""
    content = wish.content
    if content is not None:
        content = clean_content(content) if content.strip() else DELETED
    topic = None if wish.topic is None else clean_topic(wish.topic, settings)
    return msgspec.structs.replace(wish, content=content, topic=topic)


def what_remains(wish: Wish, message: Reached) -> Wish:
    """The wish without what is so already."""
    return msgspec.structs.replace(
        wish,
        content=None if wish.content == message.content else wish.content,
        topic=None if wish.topic == message.topic else wish.topic,
        channel_id=None if wish.channel_id == message.conversation_id else wish.channel_id,
    )


def check_makes_sense(wish: Wish, message: Reached, settings: RealmSettings) -> None:
    """Refuse what nobody could do to this message. `wish` is as it was sent: also what changes nothing may be wrong."""
    check_editable(message, settings)
    if message.participants is not None and wish.channel_id is not None:
        raise Refusal("Direct messages can't be moved to channels.")
    if message.participants is not None and wish.topic is not None:
        raise Refusal("Direct messages have no topics.")
    if wish.mode != "change_one" and not wish.is_move:
        raise Refusal("Invalid propagate_mode: it goes with a new topic or a new channel.")
    if wish.topic in (RESOLVED.strip(), RESOLVED + settings.empty_topic_display_name):
        raise Refusal(f"The topic {settings.empty_topic_display_name} can't be resolved.")
    if wish.channel_id is not None and not 0 < wish.channel_id < 2**63:
        raise Refusal("Invalid channel ID")


def check_editable(message: Reached, settings: RealmSettings) -> None:
    """Refuse a message that nobody can change now."""
    if message.is_archived:
        raise Refusal("Invalid message(s): messages of an archived channel stay as they are.")
    if not settings.allow_message_editing:
        raise Refusal("Your organization has turned off message editing.")


def check_something_remains(wish: Wish) -> None:
    """Refuse a request that changes nothing, or too much at once."""
    if wish.content is None and not wish.is_move:
        raise Refusal("There is nothing to change.")
    if wish.content is not None and wish.channel_id is not None:
        raise Refusal("A message's content can't change while it moves to another channel.")


def check_expectation(wish: Wish, message: Reached) -> None:
    """Refuse a change of a text that is not the one the caller has seen."""
    expected = wish.prev_content_sha256
    if expected is None:
        return
    if expected.lower() != hashlib.sha256(message.content.encode()).hexdigest():
        raise Refusal(
            "'prev_content_sha256' is not that of the message's content: it has changed meanwhile.",
            code="EXPECTATION_MISMATCH",
            field_name="prev_content_sha256",
        )


def check_may_edit(
    message: Reached, user_id: int, now: datetime, settings: RealmSettings, *, grace: timedelta = GRACE
) -> None:
    """Refuse a new text by anybody but the sender, and one that comes too late."""
    check_is_sender(message, user_id)
    if find_widget(message.content) is not None:
        raise Refusal("Widgets can't be edited.")
    if is_over(message.sent_at, now, settings.message_content_edit_limit_seconds, grace):
        raise Refusal("The time limit for editing this message has passed.")


def check_is_sender(message: Reached, user_id: int) -> None:
    """Refuse a new text by anybody but the sender."""
    if message.sender_id != user_id:
        raise Refusal("You don't have permission to edit this message.")


def check_may_delete(message: Reached, user_id: int, rights: Rights, settings: RealmSettings) -> None:
    """Refuse whoever may neither delete any message nor, in time, their own or that of a bot of theirs."""
    if rights.may_delete_any:
        return
    if message.sender_id != user_id and not rights.is_own_bot:
        raise Refusal("You don't have permission to delete this message.")
    if not rights.may_delete_own:
        raise Refusal("You don't have permission to delete this message.")
    if is_over(message.sent_at, rights.now, settings.message_content_delete_limit_seconds, grace=NO_GRACE):
        raise Refusal("The time limit for deleting this message has passed.")


def is_over(sent_at: datetime, now: datetime, limit: int | None, grace: timedelta = GRACE) -> bool:
    """Whether more time than the limit has passed since; None: there is no limit."""
    return limit is not None and now - sent_at > timedelta(seconds=limit) + grace


def is_free_of_limits(rights: Rights) -> bool:
    """Whether moves by this user have no time limit."""
    return rights.role <= Role.MODERATOR
