"""What was said, what was said before it was edited, and who has read it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tertulia.archives.converting.ranges import merged, runs
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.zulip.furniture import Furniture
from tertulia.archives.converting.zulip.people import People
from tertulia.archives.converting.zulip.places import Places
from tertulia.archives.converting.zulip.shelf import Shelf
from tertulia.archives.converting.zulip.tables import Json
from tertulia.archives.converting.zulip.values import id_of, microseconds, with_long_paths, words
from tertulia.conversations.read_state.marks import Mark

MOST_CONTENT = 10_000
MOST_CLIENT = 30
ROWS_AT_ONCE = 5000
READ, HISTORICAL = 1 << 0, 1 << 10
MARKS = {
    1 << bit: mark.name.lower()
    for bit, mark in ((1, Mark.STARRED), (2, Mark.COLLAPSED), (3, Mark.MENTIONED), (9, Mark.HAS_ALERT_WORD))
}
"""Bits of the flags of somebody on a message. Other ones follow from the text here."""


class Past(msgspec.Struct, array_like=True):
    """What a message was before, as it lies on the shelf."""

    person: int | None
    at: int
    content: str | None = None
    topic: str | None = None
    new_topic: str | None = None
    channel: int | None = None
    new_channel: int | None = None


class Messages:
    """Puts them on the shelf."""

    def __init__(
        self,
        people: People,
        places: Places,
        furniture: Furniture,
        shelf: Shelf,
        incidents: Incidents,
        clients: list[Json],
    ) -> None:
        self._people = people
        self._places = places
        self._furniture = furniture
        self._shelf = shelf
        self._incidents = incidents
        self._clients = {id_of(row.get("id")): words(row.get("name"))[:MOST_CLIENT] for row in clients}
        self._protected = {one.id for one in places.channels.values() if one.is_protected}
        self.read = 0
        self.taken = 0

    def take(self, row: Json) -> None:
        """One message: it comes, or is a case of the report."""
        self.read += 1
        id, sent = id_of(row.get("id")), microseconds(row.get("date_sent"))
        where = f"message {id or words(str(row.get('id')))[:30]}"
        sender = self._people.person(row.get("sender"))
        content = self._content(row, where)
        if not id or not sent or not sender:
            self._incidents.lose("messages without an id, a time or a sender", where)
            return
        if not content:
            self._incidents.lose("messages without a word", where)
            return
        conversation = self._places.conversation(row.get("recipient"), sender)
        if not conversation:
            self._incidents.lose("messages of conversations that are not in the export", where)
            return
        subject, topic, name = words(row.get("subject")), 0, None
        if conversation in self._places.channels:
            topic = self._places.topic(conversation, subject)
            name = self._places.topic_name(subject)
        past = self._past(row, name, conversation, where)
        client = self._clients.get(id_of(row.get("sending_client"))) or "import"
        self._shelf.add(
            "message", id, conversation, topic, sender, sent, client, content, msgspec.json.encode(past).decode()
        )
        self.taken += 1

    def _content(self, row: Json, where: str) -> str:
        content = with_long_paths(words(row.get("content")))
        if len(content) > MOST_CONTENT:
            self._incidents.change("messages that were too long, and cut", where, f"{len(content):,} characters")
            content = content[: MOST_CONTENT - 1] + "…"
        return content if content.strip() else ""

    # What it was before

    def _past(self, row: Json, topic: str | None, channel: int, where: str) -> list[Past]:
        """Oldest first. They are read from the newest on: what older ones became is what the next one says it was."""
        said = row.get("edit_history")
        if not said:
            return []
        try:
            entries = json.loads(said) if isinstance(said, str) else said
        except (ValueError, RecursionError):
            entries = None
        if not isinstance(entries, list):
            self._incidents.lose("histories of messages that cannot be read", where)
            return []
        found: list[Past] = []
        for entry in entries:
            at = microseconds(entry.get("timestamp")) if isinstance(entry, dict) else 0
            if not at:
                self._incidents.lose("edits without a time", where)
                continue
            one = Past(self._people.person(entry.get("user_id")) or None, at)
            one.content = with_long_paths(words(entry.get("prev_content")))[:MOST_CONTENT] or None
            if topic is not None:
                topic = self._moved_topic(entry, one, topic)
                channel = self._moved_channel(entry, one, channel, where)
            if one.content is not None or one.topic is not None or one.channel is not None:
                found.append(one)
        return found[::-1]

    def _moved_topic(self, entry: Json, one: Past, now: str) -> str:
        said = entry.get("prev_topic", entry.get("prev_subject"))
        if not isinstance(said, str):
            return now
        was = self._places.topic_name(said)
        became = self._places.topic_name(entry["topic"]) if isinstance(entry.get("topic"), str) else now
        if was != became:
            one.topic, one.new_topic = was, became
        return was

    def _moved_channel(self, entry: Json, one: Past, now: int, where: str) -> int:
        was = id_of(entry.get("prev_stream"))
        if not was:
            return now
        became = id_of(entry.get("stream")) or now
        if was not in self._places.channels or became not in self._places.channels:
            self._incidents.lose("moves from or to channels that are gone", where)
        elif was != became:
            one.channel, one.new_channel = was, became
        return was

    # What hangs on messages

    def react(self, row: Json) -> None:
        """A reaction, before or after its message."""
        message, person = id_of(row.get("message")), self._people.person(row.get("user_profile"))
        kind, code = self._furniture.reaction(row.get("reaction_type"), row.get("emoji_code"))
        name = words(row.get("emoji_name"))[:100]
        if message and person and code and name:
            self._shelf.add("reaction", message, person, name, code, kind)
        else:
            self._incidents.lose("reactions that cannot be here", f"message {message}", name)

    def submessage(self, row: Json) -> None:
        """What a widget was told."""
        id, message = id_of(row.get("id")), id_of(row.get("message"))
        sender, content = self._people.person(row.get("sender")), words(row.get("content"))
        if id and message and sender and content:
            self._shelf.add("submessage", id, message, sender, words(row.get("msg_type"))[:60], content)
        else:
            self._incidents.lose("votes and tasks that cannot be read", f"message {message}")

    # What was read

    def take_flags(self, rows: Iterable[Json]) -> None:
        """Who received what, and what they did with it: when all messages are numbered."""
        batch: list[tuple[int, int, int]] = []
        for row in rows:
            person, message, flags = id_of(row.get("user_profile")), id_of(row.get("message")), row.get("flags_mask")
            if person in self._people.all and message and type(flags) is int and flags >= 0:
                batch.append((person, message, flags))
            else:
                self._incidents.lose("flags of nobody or of no message", f"message {message}")
            if len(batch) >= ROWS_AT_ONCE:
                self._flags(batch)
                batch = []
        self._flags(batch)

    def _flags(self, batch: Sequence[tuple[int, int, int]]) -> None:
        places = self._shelf.places({message for _, message, _ in batch})
        found: dict[str, dict[tuple[int, int], list[int]]] = {"unread": {}, "received": {}}
        for person, message, flags in batch:
            if message not in places:
                continue
            conversation, number = places[message]
            if not flags & READ:
                found["unread"].setdefault((conversation, person), []).append(number)
            if conversation in self._protected and not flags & HISTORICAL:
                found["received"].setdefault((conversation, person), []).append(number)
            for bit, flag in MARKS.items():
                if flags & bit:
                    self._shelf.add("mark", person, message, flag)
        for table, of in found.items():
            for (conversation, person), numbers in of.items():
                for first, last in runs(numbers):
                    self._shelf.add(table, conversation, person, first, last)


def read_of(unread: Iterable[tuple[int, int]], last: int) -> list[tuple[int, int | None]]:
    """What was read of a conversation with so many messages: all but this."""
    found: list[tuple[int, int | None]] = []
    begin = 1
    for first, end in unread:
        if begin < first:
            found.append((begin, first))
        begin = end + 1
    if begin <= last:
        found.append((begin, last + 1))
    return found


def history_of(received: Sequence[tuple[int, int]], last: int, *, is_active: bool, is_idle: bool) -> list[Any]:
    """What was sent while somebody belonged to it, and whether that goes on.

    Of who was away for long rows were not written: they belonged to it since the last one.
    """
    ranges = list(received)
    if is_active:
        first = ranges[-1][1] + 1 if is_idle and ranges else last + 1
        ranges = list(merged([*ranges, (first, 2**31)]))
    return [(first, None if end == 2**31 else end + 1) for first, end in ranges]
