"""How a sent message looks to its listeners."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import msgspec

from tertulia.compat import old_echo_keys
from tertulia.events.logged import Listener, Logged
from tertulia.events.record import Stamp
from tertulia.messages.model import MessageRecord, MessageSent, SubmessageRecord
from tertulia.messages.rules import is_me_message
from tertulia.messages.statements import CHANNEL_WILDCARD, TOPIC_WILDCARD
from tertulia.narrows import listening
from tertulia.narrows.listening import check_pairs, is_heard
from tertulia.users.visibility import unknown_sender

_decoder = msgspec.json.Decoder(MessageSent)
_encode = msgspec.json.Encoder().encode


class Heard(NamedTuple):
    """What makes the texts of two listeners differ: the form they asked for, and what the message is to them."""

    apply_markdown: bool
    empty_topic_name: bool
    is_echo: bool
    sees_sender: bool
    flags: tuple[str, ...]


class MessagePresenter:
    """Shows `message` events: one text for all who asked for the same form and have the same flags."""

    def variant(self, logged: Logged, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return _heard(logged, listener)

    def present(self, logged: Logged, listener: Listener) -> bytes:
        """The event's keys."""
        sent, stamp, heard = _sent(logged), _stamp(logged), _heard(logged, listener)
        is_channel = sent.channel is not None
        message = MessageRecord(
            id=stamp.id,
            sender_id=sent.sender_id,
            sender_full_name=sent.sender_full_name,
            sender_email=sent.sender_email,
            sender_realm_str=sent.realm,
            avatar_url=sent.avatar_url,
            client=sent.client,
            content=sent.rendered if heard.apply_markdown else sent.content,
            content_type="text/html" if heard.apply_markdown else "text/x-markdown",
            type="stream" if is_channel else "private",
            stream_id=sent.conversation_id if is_channel else msgspec.UNSET,
            display_recipient=sent.channel if sent.channel is not None else sent.people,
            recipient_id=sent.conversation_id,
            subject=stamp.topic or ("" if heard.empty_topic_name else sent.empty_topic),
            topic_links=sent.topic_links,
            timestamp=stamp.at,
            is_me_message=is_me_message(sent.content),
            submessages=_submessages(sent, stamp),
        )
        if not heard.sees_sender:
            message = msgspec.structs.replace(message, **unknown_sender(sent.sender_id, sent.fake_domain))
        event: dict[str, object] = {"message": message, "flags": heard.flags}
        if heard.is_echo and sent.echo is not None:
            event |= {"local_id": sent.echo.local_id, **old_echo_keys(sent.echo.local_id)}
        return _encode(event)[1:-1]


class MessageFilter:
    """Which message events a queue with a narrow takes."""

    def check(self, narrow: Sequence[tuple[str, str]]) -> None:
        """Refuse a narrow that cannot be decided from an event."""
        check_pairs(narrow)

    def passes(self, logged: Logged, listener: Listener) -> bool:
        """Whether the message matches the narrow of the listener's queue."""
        sent, stamp = _sent(logged), _stamp(logged)
        flags = _flags(sent, stamp, listener.user_id)
        heard = listening.Heard(sent.channel, stamp.topic or "", sent.sender_email, flags, sent.empty_topic)
        return is_heard(listener.options.narrow, heard)


def _heard(logged: Logged, listener: Listener) -> Heard:
    sent, options = _sent(logged), listener.options
    return Heard(
        options.apply_markdown,
        options.capabilities.empty_topic_name,
        sent.echo is not None and sent.echo.queue_id == listener.id,
        not sent.hidden_from or listener.user_id not in sent.hidden_from,
        _flags(sent, _stamp(logged), listener.user_id),
    )


def _flags(sent: MessageSent, stamp: Stamp, user_id: int) -> tuple[str, ...]:
    """What the message is to a user. The lists are empty for most messages."""
    flags = []
    if sent.read_by == user_id or (stamp.muted_by and user_id in stamp.muted_by):
        flags.append("read")
    is_in_group = bool(sent.group_mentioned) and user_id in sent.group_mentioned
    if is_in_group or (sent.mentioned and user_id in sent.mentioned):
        flags.append("mentioned")
    if sent.wildcard:
        flags += _wildcards(sent, stamp, user_id)
    if is_in_group:
        flags.append("group_mentioned")
    if stamp.alerted and user_id in stamp.alerted:
        flags.append("has_alert_word")
    return tuple(flags)


def _wildcards(sent: MessageSent, stamp: Stamp, user_id: int) -> list[str]:
    flags = []
    if sent.wildcard & CHANNEL_WILDCARD:
        flags.append("stream_wildcard_mentioned")
    # In a direct conversation there is no topic: everybody takes part. So does who sends.
    takes_part = sent.channel is None or user_id == sent.sender_id or user_id in stamp.participants
    if sent.wildcard & TOPIC_WILDCARD and takes_part:
        flags.append("topic_wildcard_mentioned")
    return [*flags, "wildcard_mentioned"] if flags else []


def _submessages(sent: MessageSent, stamp: Stamp) -> tuple[SubmessageRecord, ...]:
    if sent.widget is None or stamp.widget_id is None:
        return ()
    return (SubmessageRecord(stamp.widget_id, stamp.id, sent.sender_id, "widget", sent.widget),)


def _stamp(logged: Logged) -> Stamp:
    assert logged.record.stamp is not None
    return logged.record.stamp


def _sent(logged: Logged) -> MessageSent:
    if logged.decoded is None:
        logged.decoded = _decoder.decode(logged.record.event)
    assert isinstance(logged.decoded, MessageSent)
    return logged.decoded
