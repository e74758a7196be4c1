"""The events of changed messages: `update_message`, `delete_message`; what they look like to each listener."""

from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from tertulia.events.log.record import Audience, Record, record
from tertulia.events.queues.logged_event import Listener, LoggedEvent
from tertulia.messaging.editing.flags import HISTORICAL, Flagged
from tertulia.messaging.reading.access import Reached
from tertulia.organization.realms.settings import RealmSettings

BULK = "bulk_message_deletion"
MAX_SINGLE = 100
"""So many events at most for clients that do not know `BULK`: each names the whole audience. Beyond it they register again."""

_encode = msgspec.json.Encoder().encode


class MessageUpdated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The log's event of a changed message, and of those that moved with it."""

    event: dict[str, Any]
    """All keys but the flags; topics as they are stored."""
    flagged: tuple[Flagged, ...] = ()
    empty_topic: str = ""
    """How the realm names the empty topic, if the event names that."""


class MessagesDeleted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The log's event of messages that are gone, or out of the listener's reach."""

    event: dict[str, Any]
    empty_topic: str = ""


_updated = msgspec.json.Decoder(MessageUpdated)
_deleted = msgspec.json.Decoder(MessagesDeleted)
_TOPICS = ("orig_subject", "subject", "topic")


def updated(to: Audience, event: dict[str, Any], flagged: Sequence[Flagged], settings: RealmSettings) -> Record:
    """`update_message`."""
    told = MessageUpdated(event=event, flagged=tuple(flagged), empty_topic=_empty_topic(event, settings))
    return record(to, "update_message", told)


def deleted(to: Audience, message: Reached, message_ids: Sequence[int], settings: RealmSettings) -> list[Record]:
    """`delete_message`: one for all messages, or one each for clients that know no better."""
    where: dict[str, Any] = {"message_type": "private" if message.participants is not None else "stream"}
    if message.participants is None:
        where |= {"stream_id": message.conversation_id, "topic": message.topic}
    empty = _empty_topic(where, settings)
    many = MessagesDeleted(event={"message_ids": list(message_ids), **where}, empty_topic=empty)
    found = [record(msgspec.structs.replace(to, needs=BULK), "delete_message", many)]
    single = msgspec.structs.replace(to, lacks=BULK)
    if len(message_ids) > MAX_SINGLE:
        ending = MessagesDeleted(event=where)
        return [*found, msgspec.structs.replace(record(single, "delete_message", ending), closes=True)]
    for message_id in message_ids:
        one = MessagesDeleted(event={"message_id": message_id, **where}, empty_topic=empty)
        found.append(record(single, "delete_message", one))
    return found


def _empty_topic(event: dict[str, Any], settings: RealmSettings) -> str:
    return settings.empty_topic_display_name if any(event.get(key) == "" for key in _TOPICS) else ""


class UpdatePresenter:
    """Shows `update_message`: each listener their own flags, and the name of the empty topic if they want one."""

    def variant(self, logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        told, flags = _told(logged)
        names_empty = bool(told.empty_topic) and not listener.options.understands("empty_topic_name")
        return flags.get(listener.user_id, HISTORICAL), names_empty

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        told, flags = _told(logged)
        event = {**told.event, "flags": flags.get(listener.user_id, HISTORICAL)}
        return _encode(_shown(event, told.empty_topic, listener))[1:-1]


class DeletePresenter:
    """Shows `delete_message`."""

    def variant(self, _logged: LoggedEvent, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return listener.options.understands("empty_topic_name")

    def present(self, logged: LoggedEvent, listener: Listener) -> bytes:
        """The event's keys."""
        told = _deleted.decode(logged.record.event)
        return _encode(_shown(told.event, told.empty_topic, listener))[1:-1]


def _told(logged: LoggedEvent) -> tuple[MessageUpdated, dict[int, tuple[str, ...]]]:
    if logged.decoded is None:
        told = _updated.decode(logged.record.event)
        logged.decoded = told, {user: group.flags for group in told.flagged for user in group.users}
    assert isinstance(logged.decoded, tuple)
    return logged.decoded


def _shown(event: dict[str, Any], empty_topic: str, listener: Listener) -> dict[str, Any]:
    if not empty_topic or listener.options.understands("empty_topic_name"):
        return event
    return {key: empty_topic if key in _TOPICS and value == "" else value for key, value in event.items()}
