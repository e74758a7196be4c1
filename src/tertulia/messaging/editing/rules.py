"""Pure decisions about changing messages."""

import hashlib
from datetime import datetime, timedelta

import msgspec

from tertulia.content.markup import find_widget
from tertulia.conversations.topics.rules import RESOLVED, clean_topic
from tertulia.kernel.auth import Role
from tertulia.kernel.errors import Refusal
from tertulia.messaging.editing.model import EditRequest, Rights
from tertulia.messaging.reading.access import Reached
from tertulia.messaging.sending.rules import clean_content
from tertulia.organization.realms.settings import RealmSettings

GRACE = timedelta(seconds=20)
"""A change is sent a little after it was decided: the limit a person sees is not the one they fail at."""
NO_GRACE = timedelta()
DELETED = "(deleted)"
"""What stands for a text whose author removed all of it."""


def cleaned(request: EditRequest, settings: RealmSettings) -> EditRequest:
    """The request with its text and topic as they would be stored."""
    content = request.content
    if content is not None:
        content = clean_content(content) if content.strip() else DELETED
    topic = None if request.topic is None else clean_topic(request.topic, settings)
    return msgspec.structs.replace(request, content=content, topic=topic)


def what_remains(request: EditRequest, message: Reached) -> EditRequest:
    """The request without what is so already; refuses one that changes nothing, too much, or what the caller has not seen."""
    left = msgspec.structs.replace(
        request,
        content=None if request.content == message.content else request.content,
        topic=None if request.topic == message.topic else request.topic,
        channel_id=None if request.channel_id == message.conversation_id else request.channel_id,
    )
    if left.content is None and not left.is_move:
        raise Refusal("There is nothing to change.")
    if left.content is not None and left.channel_id is not None:
        raise Refusal("A message's content can't change while it moves to another channel.")
    _check_expectation(request, message)
    return left


def _check_expectation(request: EditRequest, message: Reached) -> None:
    """Refuse a change of a text that is not the one the caller has seen."""
    expected = request.prev_content_sha256
    if expected is None:
        return
    if expected.lower() != hashlib.sha256(message.content.encode()).hexdigest():
        raise Refusal(
            "'prev_content_sha256' is not that of the message's content: it has changed meanwhile.",
            code="EXPECTATION_MISMATCH",
            field_name="prev_content_sha256",
        )


def check_makes_sense(request: EditRequest, message: Reached, settings: RealmSettings) -> None:
    """Refuse what nobody could do to this message. `request` is as it was sent: also what changes nothing may be wrong."""
    check_editable(message, settings)
    if message.participants is not None and request.channel_id is not None:
        raise Refusal("Direct messages can't be moved to channels.")
    if message.participants is not None and request.topic is not None:
        raise Refusal("Direct messages have no topics.")
    if request.mode != "change_one" and not request.is_move:
        raise Refusal("Invalid propagate_mode: it goes with a new topic or a new channel.")
    if request.topic in (RESOLVED.strip(), RESOLVED + settings.empty_topic_display_name):
        raise Refusal(f"The topic {settings.empty_topic_display_name} can't be resolved.")


def check_editable(message: Reached, settings: RealmSettings) -> None:
    """Refuse a message that nobody can change now."""
    if message.is_archived:
        raise Refusal("Invalid message(s): messages of an archived channel stay as they are.")
    if not settings.allow_message_editing:
        raise Refusal("Your organization has turned off message editing.")


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
