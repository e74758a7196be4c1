"""An organization in plain Python: what messages are, where, and what each reader has of them.

It is told what people do, says whether they may, and is compared with what the server shows to each of them.
"""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Channel:
    name: str
    is_public: bool
    is_protected: bool
    inside: set[int] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    """The spelling of each topic, by its key; also of those that have no message any more."""


@dataclass
class Message:
    id: int
    sender: int
    channel: int
    topic: str
    """Its key."""
    content: str
    changes: list[Json] = field(default_factory=list)
    """Oldest first."""
    received: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)


class RealmModel:
    """The messages of all channels."""

    def __init__(self, channels: dict[int, Channel], guests: set[int]) -> None:
        self.channels = channels
        self.guests = guests
        self.messages: dict[int, Message] = {}

    def name(self, message: Message) -> str:
        return self.channels[message.channel].names[message.topic]

    def may_read(self, user: int, channel: int) -> bool:
        found = self.channels[channel]
        return user in found.inside or (found.is_public and user not in self.guests)

    def may_see(self, user: int, message: Message) -> bool:
        may = self.may_read(user, message.channel)
        return may and (not self.channels[message.channel].is_protected or user in message.received)

    def of_topic(self, channel: int, topic: str) -> list[Message]:
        found = [one for one in self.messages.values() if (one.channel, one.topic) == (channel, topic)]
        return sorted(found, key=lambda one: one.id)

    # What people do

    def send(self, message_id: int, user: int, channel: int, topic: str, content: str, *, read: bool) -> None:
        found = self.channels[channel]
        found.names.setdefault(topic.lower(), topic)
        sent = Message(message_id, user, channel, topic.lower(), content, received=set(found.inside))
        sent.read = {user} if read else set()
        self.messages[message_id] = sent

    def join(self, user: int, channel: int) -> None:
        self.channels[channel].inside.add(user)
        for message in self.messages.values():
            if message.channel == channel:
                message.read.add(user)

    def leave(self, user: int, channel: int) -> None:
        self.channels[channel].inside.discard(user)

    def mark(self, user: int, messages: list[int], *, read: bool) -> None:
        for number in messages:
            message = self.messages[number]
            if user in message.received and user in self.channels[message.channel].inside:
                (message.read.add if read else message.read.discard)(user)

    def edit(self, user: int, number: int, content: str) -> bool:
        message = self.messages[number]
        if not self.may_see(user, message) or message.sender != user or content == message.content:
            return False
        message.changes.append({"user_id": user, "prev_content": message.content})
        message.content = content
        return True

    def delete(self, user: int, number: int, *, any_: bool) -> bool:
        message = self.messages[number]
        if not self.may_see(user, message) or not (any_ or message.sender == user):
            return False
        del self.messages[number]
        return True

    def move(self, user: int, number: int, topic: str | None, channel: int | None, mode: str) -> bool:
        message = self.messages[number]
        source, target = message.channel, message.channel if channel is None else channel
        old = self.name(message)
        new = old if topic is None else topic
        if not self.may_see(user, message) or not self.may_read(user, target):
            return False
        if target != source and user in self.guests:
            return False
        if target == source and new == old:
            return False
        whole = self.of_topic(source, message.topic)
        respelled = target == source and new.lower() == old.lower()
        moving = [one for one in whole if _is_meant(one.id, number, mode) and self.may_see(user, one)]
        moving = whole if respelled else moving
        there = self.channels[target].names
        if self.of_topic(target, new.lower()) and not respelled:
            new = there[new.lower()]
        there[new.lower()] = new
        key = message.topic
        for one in moving:
            self._move_one(one, target, new, old, user)
        if len(moving) == len(whole) and not respelled:
            del self.channels[source].names[key]
        return True

    def _move_one(self, message: Message, target: int, new: str, old: str, user: int) -> None:
        change: Json = {"user_id": user}
        if new != old:
            change |= {"prev_topic": old, "topic": new}
        if target != message.channel:
            change |= {"prev_stream": message.channel, "stream": target}
            here, there = self.channels[message.channel].inside, self.channels[target].inside
            unread = (message.received - message.read) & here
            message.received = set(there)
            # Whoever is in neither set has not received it, and has it read then.
            message.read = set(there) - unread
            message.channel = target
        message.topic = new.lower()
        message.changes.append(change)

    # What each sees

    def flags(self, user: int, message: Message) -> list[str]:
        if user not in message.received:
            return ["read", "historical"]
        # In a channel somebody has left nothing is unread.
        is_read = user in message.read or user not in self.channels[message.channel].inside
        return ["read"] if is_read else []

    def seen(self, user: int, channel: int) -> list[Json]:
        """What a fetch of the channel shows."""
        found = sorted(self.messages.values(), key=lambda one: one.id)
        return [
            {
                "id": one.id,
                "sender_id": one.sender,
                "stream_id": one.channel,
                "subject": self.name(one),
                "content": one.content,
                "flags": self.flags(user, one),
                "edit_history": one.changes[::-1],
            }
            for one in found
            if one.channel == channel and self.may_see(user, one)
        ]

    def unread(self, user: int) -> dict[tuple[int, str], list[int]]:
        """What the user has not read, by topic."""
        found: dict[tuple[int, str], list[int]] = {}
        for one in sorted(self.messages.values(), key=lambda one: one.id):
            inside = user in self.channels[one.channel].inside
            if inside and user in one.received and user not in one.read:
                found.setdefault((one.channel, self.name(one)), []).append(one.id)
        return found

    def newest(self, user: int) -> int:
        return max((one.id for one in self.messages.values() if user in one.received), default=-1)


def _is_meant(number: int, named: int, mode: str) -> bool:
    return mode == "change_all" or number == named or (mode == "change_later" and number > named)
