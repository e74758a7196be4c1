"""How a sent message looks to its listeners."""

from collections.abc import Hashable

import msgspec

from tertulia.events.logged import Listener, Logged
from tertulia.messages.model import MessageRecord, MessageSent
from tertulia.messages.rules import is_me_message
from tertulia.users.model import avatar_url

_decoder = msgspec.json.Decoder(MessageSent)
_encode = msgspec.json.Encoder().encode


class MessagePresenter:
    """Shows `message` events: one text for all who asked for the same form and have the same flags."""

    def variant(self, logged: Logged, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        sent = _sent(logged)
        options = listener.options
        is_echo = sent.echo is not None and sent.echo.queue_id == listener.id
        has_read = sent.read_by == listener.user_id
        return options.apply_markdown, options.capabilities.empty_topic_name, has_read, is_echo

    def present(self, logged: Logged, listener: Listener) -> bytes:
        """The event's keys."""
        sent, stamp = _sent(logged), logged.record.stamp
        assert stamp is not None
        options = listener.options
        is_channel = sent.channel is not None
        topic = stamp.topic or ("" if options.capabilities.empty_topic_name else sent.empty_topic)
        message = MessageRecord(
            id=stamp.id,
            sender_id=sent.sender_id,
            sender_full_name=sent.sender_full_name,
            sender_email=sent.sender_email,
            sender_realm_str=sent.realm,
            avatar_url=avatar_url(sent.sender_id, sent.avatar_version),
            client=sent.client,
            content=sent.rendered if options.apply_markdown else sent.content,
            content_type="text/html" if options.apply_markdown else "text/x-markdown",
            type="stream" if is_channel else "private",
            stream_id=sent.conversation_id if is_channel else msgspec.UNSET,
            display_recipient=sent.channel if sent.channel is not None else sent.people,
            recipient_id=sent.conversation_id,
            subject=topic,
            timestamp=stamp.at,
            is_me_message=is_me_message(sent.content),
        )
        has_read = sent.read_by == listener.user_id
        event: dict[str, object] = {"message": message, "flags": ["read"] if has_read else []}
        if sent.echo is not None and sent.echo.queue_id == listener.id:
            # The specification's name, and the one existing clients read.
            event["local_id"] = event["local_message_id"] = sent.echo.local_id
        return _encode(event)[1:-1]


def _sent(logged: Logged) -> MessageSent:
    if logged.decoded is None:
        logged.decoded = _decoder.decode(logged.record.event)
    assert isinstance(logged.decoded, MessageSent)
    return logged.decoded
