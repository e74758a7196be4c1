"""How a sent message looks to its listeners."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import msgspec

from tertulia.conversations.read_state.marks import Concern, Mark, flags_for
from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.kernel.compat import old_echo_keys
from tertulia.messaging.narrows.listening import HeardMessage, check_pairs, is_heard, plain_pairs
from tertulia.messaging.reading.model import MessageRecord, SubmessageRecord
from tertulia.messaging.sending.model import MessageSent, Stamp
from tertulia.messaging.sending.rules import is_me_message
from tertulia.people.users.visibility.actions import unknown_sender

_decoder = msgspec.json.Decoder(MessageSent)
_stamp_decoder = msgspec.json.Decoder(Stamp)
_encode = msgspec.json.Encoder().encode
_NAMED, _ALERTED = (Mark.MENTIONED,), (Mark.HAS_ALERT_WORD,)
_READ = tuple(flags_for(Concern(is_received=True, is_read=True)))


class _Decoded(NamedTuple):
    """What the log has of a message, kept with the event for all its listeners."""

    sent: MessageSent
    stamp: Stamp
    heard: HeardMessage
    """As narrows ask about it."""
    # Sets, for each listener is looked for in all of them: with lists of thousands everybody in the process would wait.
    named: frozenset[int]
    grouped: frozenset[int]
    alerted: frozenset[int]
    muted_by: frozenset[int]
    participants: frozenset[int]
    hidden_from: frozenset[int]


class MessageVariant(NamedTuple):
    """What makes the texts of two listeners differ: the form they asked for, and what the message is to them."""

    apply_markdown: bool
    leaves_topic_empty: bool
    is_echo: bool
    sees_sender: bool
    flags: tuple[str, ...]


class MessagePresenter:
    """Shows `message` events: one text for all who asked for the same form and have the same flags."""

    def variant(self, logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return _heard(_decoded(logged), listener)

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        decoded = _decoded(logged)
        sent, stamp = decoded.sent, decoded.stamp
        heard = _heard(decoded, listener)
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
            subject=stamp.topic or ("" if heard.leaves_topic_empty else sent.empty_topic),
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

    def read(self, narrow: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The same narrow, ready to be decided."""
        return plain_pairs(narrow)

    def passes(self, logged: LoggedEvent, listener: Listener) -> bool:
        """Whether the message matches the narrow of the listener's queue."""
        decoded = _decoded(logged)
        flags = _flags(decoded, listener.user_id)
        heard = decoded.heard
        if listener.user_id in decoded.hidden_from:
            # By the address that the event shows: the real one cannot be tried out either.
            shown = unknown_sender(decoded.sent.sender_id, decoded.sent.fake_domain)["sender_email"]
            heard = msgspec.structs.replace(heard, sender_email=shown.lower())
        return is_heard(listener.options.narrow, heard, flags)


def _heard(decoded: _Decoded, listener: Listener) -> MessageVariant:
    sent, options = decoded.sent, listener.options
    return MessageVariant(
        options.apply_markdown,
        not sent.empty_topic or options.understands("empty_topic_name"),
        # Only to a queue of the sender's own: nobody writes into somebody else's.
        sent.echo is not None and sent.echo.queue_id == listener.id and sent.sender_id == listener.user_id,
        listener.user_id not in decoded.hidden_from,
        _flags(decoded, listener.user_id),
    )


def _flags(decoded: _Decoded, user_id: int) -> tuple[str, ...]:
    """What the message is to a user. The sets are empty for most messages."""
    sent = decoded.sent
    is_read = sent.read_by == user_id or user_id in decoded.muted_by
    is_named, is_alerted = user_id in decoded.named, user_id in decoded.alerted
    in_group = user_id in decoded.grouped
    if not (is_named or is_alerted or in_group or sent.wildcard):
        return _READ if is_read else ()
    # In a direct conversation there is no topic: everybody takes part. So does who sends.
    takes_part = sent.channel is None or user_id == sent.sender_id or user_id in decoded.participants
    marks = (*(_NAMED if is_named else ()), *(_ALERTED if is_alerted else ()))
    return tuple(flags_for(Concern(True, is_read, marks, in_group, sent.wildcard, takes_part)))


def _submessages(sent: MessageSent, stamp: Stamp) -> tuple[SubmessageRecord, ...]:
    if sent.widget is None or stamp.widget_id is None:
        return ()
    return (SubmessageRecord(stamp.widget_id, stamp.id, sent.sender_id, "widget", sent.widget),)


def _decoded(logged: LoggedEvent) -> _Decoded:
    if logged.decoded is None:
        sent, stamp = _decoder.decode(logged.record.event), _stamp_decoder.decode(logged.record.stamp)
        heard = HeardMessage.of(sent.channel, stamp.topic or "", sent.sender_email, sent.empty_topic)
        logged.decoded = _Decoded(
            sent,
            stamp,
            heard,
            named=frozenset(sent.mentioned),
            grouped=frozenset(sent.group_mentioned),
            alerted=frozenset(stamp.alerted),
            muted_by=frozenset(stamp.muted_by),
            participants=frozenset(stamp.participants),
            hidden_from=frozenset(sent.hidden_from),
        )
    assert isinstance(logged.decoded, _Decoded)
    return logged.decoded
