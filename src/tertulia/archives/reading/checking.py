"""Goes through a whole archive: every sum, every line, and that what a line refers to is there.

Memory: eight bytes for each message and change; what else there is of people, conversations, topics and files is kept by id.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from functools import cache
from typing import Any, get_args, get_origin

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.form.kinds import Numbers, Record
from tertulia.archives.form.moving import Credentials, SentRequest, Stored
from tertulia.archives.reading.archive import Archive, pictures_of
from tertulia.kernel.text import name_key_of

Progress = Callable[[str], None]
TELL_EACH = 10_000


def check_archive(archive: Archive, progress: Progress, watch: Callable[[Record], None] | None = None) -> None:
    """ArchiveFailed at the first thing that is wrong, with a sentence that says where. `watch` sees each line that is good."""
    _Check(archive, progress).run(watch)


class _Check:
    def __init__(self, archive: Archive, progress: Progress) -> None:
        self._archive = archive
        self._progress = progress
        self._where = ""
        self._seen: dict[str, set[Any]] = {}
        self._topics: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._messages = array("q")
        self._changes = array("q")
        self._current = 0
        self._left: set[int] = set()
        self._numbers: set[int] = set()
        self._newest: dict[str, tuple[Any, ...]] = {}
        self._later: list[tuple[str, str, Sequence[int | None]]] = []

    def run(self, watch: Callable[[Record], None] | None) -> None:
        done = 0
        for kind, record_type in self._archive.kinds.items():
            check = _CHECKS[record_type]
            for number, record in enumerate(self._archive.lines(kind), 1):
                self._where = f"Line {number:,} of {kind}"
                self._times(record)
                check(self, record)
                for name, picture in pictures_of(record):
                    self._blob(name, picture)
                if watch is not None:
                    watch(record)
                if not (done := done + 1) % TELL_EACH:
                    self._progress(f"{done:,} lines read")
            if kind == "emoji":
                self._refer_later()
            if kind == "messages":
                self._messages = self._sorted(self._messages, "message")
            if kind == "topic_changes":
                self._sorted(self._changes, "change")
        if len(self._seen.get("blob", ())) != self._archive.manifest.blobs:
            self._fail("the archive has blobs that no line refers to", where="After the last line")

    def _blob(self, name: str, picture: kinds.Picture) -> None:
        self._once("blob", name)
        for _ in self._archive.blob(name, picture):
            pass

    # What the checks are made of

    def _fail(self, what: str, *, where: str = "") -> None:
        raise ArchiveFailed(f"{where or self._where}: {what}.")

    def _times(self, record: Record) -> None:
        for name in _times(type(record)):
            time = getattr(record, name)
            if time is not None and time.year in (MINYEAR, MAXYEAR) and not _is_in_utc(time):
                self._fail(f"{name} is before or after all times that there are in UTC")
        for name in _dated_parts(type(record)):
            for part in getattr(record, name):
                self._times(part)

    def _once(self, family: str, key: object) -> None:
        seen = self._seen.setdefault(family, set())
        if key in seen:
            self._fail(f"{family} {key!r} is there twice")
        seen.add(key)

    def _refer(self, family: str, *ids: int | None) -> None:
        known = self._seen.get(family, set())
        for one in ids:
            if one is not None and one not in known:
                self._fail(f"{family} {one} is not in the archive")

    def _refer_then(self, family: str, *ids: int | None) -> None:
        """Groups and people refer to each other, and to channels: they are compared when all are known."""
        self._later.append((self._where, family, ids))

    def _refer_later(self) -> None:
        for where, family, ids in self._later:
            self._where = where
            self._refer(family, *ids)
        self._later.clear()

    def _sorted(self, ids: "array[int]", what: str) -> "array[int]":
        ordered = array("q", sorted(ids))
        for at in range(1, len(ordered)):
            if ordered[at] == ordered[at - 1]:
                self._fail(f"{what} {ordered[at]} is there twice", where="All lines together")
        return ordered

    def _after(self, family: str, *key: object) -> None:
        """In their order, so nothing is kept of what may be millions."""
        if key <= self._newest.get(family, ()):
            self._fail(f"{family} {key!r} is there twice, or not in its order")
        self._newest[family] = key

    def _has_message(self, message_id: int) -> bool:
        at = bisect_left(self._messages, message_id)
        return at < len(self._messages) and self._messages[at] == message_id

    # Kinds

    def organization(self, one: kinds.Organization) -> None:
        self._refer_then("group", *one.permissions.values())

    def group(self, one: kinds.Group) -> None:
        self._once("group", one.id)
        if one.name is not None:
            self._once("group name", one.name)
        self._refer_then("group", *one.subgroups, *one.permissions.values())
        self._refer_then("person", one.creator_id, *one.members)

    def profile_field(self, one: kinds.ProfileField) -> None:
        self._once("profile field", one.id)
        self._once("profile field name", name_key_of(one.name))

    def person(self, one: kinds.Person) -> None:
        self._once("person", one.id)
        if one.email is not None:
            self._once("address", one.email.lower())
        self._refer("profile field", *(value.field_id for value in one.profile))
        if one.bot is None:
            self._once("person who is no bot", one.id)
        else:
            self._refer_then("person who is no bot", one.bot.owner_id)
        if one.private is not None:
            self._times(one.private)
            self._refer_then("person", *(muted.user_id for muted in one.private.muted))

    def emoji(self, one: kinds.Emoji) -> None:
        self._once("emoji", one.id)
        if not one.is_deactivated:
            self._once("emoji name", one.name)
        self._refer("person", one.author_id)

    def numbered(self, family: str, one: kinds.Linkifier | kinds.Playground) -> None:
        self._once(family, one.id)

    def folder(self, one: kinds.Folder) -> None:
        self._once("folder", one.id)
        self._refer("person", one.creator_id)

    def channel(self, one: kinds.Channel) -> None:
        self._once("conversation", one.id)
        self._once("channel", one.id)
        self._once("channel name", name_key_of(one.name))
        self._refer("person", one.creator_id)
        self._refer("folder", one.folder_id)
        self._refer("group", *one.permissions.values())
        self._last[one.id] = one.last_number
        if one.message_retention_days == 0:
            self._fail("messages are kept for a number of days, or for ever (-1)")
        if one.is_web_public and one.is_private:
            self._fail("a channel cannot be private and open to the web")

    def direct(self, one: kinds.Direct) -> None:
        self._once("conversation", one.id)
        self._once("set of people", tuple(one.participants))
        if one.participants != sorted(set(one.participants)):
            self._fail("the participants are not distinct and ascending")
        self._refer("person", *one.participants)
        self._last[one.id] = one.last_number

    def topic(self, one: kinds.ChannelTopic) -> None:
        self._once("topic", one.id)
        self._once("name of a topic", (one.channel_id, name_key_of(one.name)))
        self._refer("channel", one.channel_id)
        self._refer("person", *one.participants)
        self._topics[one.id] = one.channel_id

    def subscription(self, one: kinds.Subscription) -> None:
        self._after("subscription", one.channel_id, one.user_id)
        self._refer("channel", one.channel_id)
        self._refer("person", one.user_id)

    def file(self, one: kinds.File) -> None:
        self._once("file", one.id)
        self._once("path of a file", one.path)
        self._refer("person", one.owner_id)

    def message(self, one: kinds.Message) -> None:
        self._refer("conversation", one.conversation_id)
        self._refer("person", one.sender_id, *(reaction.user_id for reaction in one.reactions))
        self._refer("file", *one.files)
        if self._topics.get(one.topic_id or 0, 0) != (0 if one.topic_id is None else one.conversation_id):
            self._fail(f"topic {one.topic_id} is not one of channel {one.conversation_id}")
        if (one.topic_id is None) == (one.conversation_id in self._seen.get("channel", ())):
            self._fail("a message of a channel has a topic, and a direct one has none")
        self._follows(one)
        if len({(r.user_id, r.reaction_type, r.emoji_code) for r in one.reactions}) != len(one.reactions):
            self._fail("somebody has reacted twice with the same emoji")
        for change in one.changes:
            self._changed(change)
        self._refer("person", *(said.sender_id for said in one.submessages))

    def _follows(self, one: kinds.Message) -> None:
        if one.conversation_id != self._current:
            self._left.add(self._current)
            if one.conversation_id in self._left:
                self._fail(f"messages of conversation {one.conversation_id} are not together")
            self._current, self._numbers = one.conversation_id, set()
        elif one.id <= self._messages[-1]:
            self._fail("the messages of a conversation are not in the order of their ids, or one is there twice")
        if one.number in self._numbers or one.number > self._last[one.conversation_id]:
            self._fail(f"number {one.number} is there twice, or above the last_number of its conversation")
        self._numbers.add(one.number)
        self._messages.append(one.id)

    def _changed(self, one: kinds.Change | kinds.TopicChange) -> None:
        self._changes.append(one.id)
        self._refer("person", one.user_id)
        self._refer("channel", one.channel_id, one.new_channel_id)
        if (one.topic is None) != (one.new_topic is None) or (one.channel_id is None) != (one.new_channel_id is None):
            self._fail("a change says what was and what is, or neither")
        if one.topic is None and one.channel_id is None and getattr(one, "content", None) is None:
            self._fail("a change changes nothing")

    def topic_change(self, one: kinds.TopicChange) -> None:
        self._refer("topic", one.topic_id)
        self._changed(one)

    def read_state(self, one: kinds.ReadState) -> None:
        self._after("read state", one.conversation_id, one.user_id)
        self._refer("conversation", one.conversation_id)
        self._refer("person", one.user_id)
        if not (_is_ascending(one.read) and _is_ascending(one.history)):
            self._fail("ranges of numbers are not ascending, or one is empty")

    def mark(self, one: kinds.MessageMark) -> None:
        self._after("mark", one.user_id, one.message_id, one.flag)
        self._refer("person", one.user_id)
        if not self._has_message(one.message_id):
            self._fail(f"message {one.message_id} is not in the archive")

    def topic_policy(self, one: kinds.TopicPolicyRecord) -> None:
        self._after("topic policy", one.user_id, one.topic_id)
        self._refer("person", one.user_id)
        self._refer("topic", one.topic_id)

    def unsent(self, one: kinds.Draft | kinds.ScheduledMessage) -> None:
        self._refer("person", one.user_id, *(one.user_ids or ()))
        self._refer("channel", one.channel_id)
        if one.channel_id is not None and one.user_ids:
            self._fail("it goes to a channel or to people, not to both")
        if isinstance(one, kinds.Draft):
            self._once("draft", one.id)
            return
        self._once("scheduled message", one.id)
        if self._has_message(one.id):
            self._fail(f"message {one.id} has the same id")

    def snippet(self, one: kinds.Snippet) -> None:
        self._once("snippet", one.id)
        self._refer("person", one.user_id)

    def reminder(self, one: kinds.Reminder) -> None:
        self._once("reminder", one.id)
        self._refer("person", one.user_id)

    def credentials(self, one: Credentials) -> None:
        self._once("credentials", one.user_id)
        self._refer("person", one.user_id)

    def owned(self, one: SentRequest | Stored) -> None:
        self._once(type(one).__name__, (one.user_id, one.key))
        self._refer("person", one.user_id)


_CHECKS: dict[type[Record], Callable[[_Check, Any], None]] = {
    kinds.Organization: _Check.organization,
    kinds.Group: _Check.group,
    kinds.ProfileField: _Check.profile_field,
    kinds.Person: _Check.person,
    kinds.Emoji: _Check.emoji,
    kinds.Linkifier: lambda check, one: check.numbered("linkifier", one),
    kinds.Playground: lambda check, one: check.numbered("playground", one),
    kinds.Folder: _Check.folder,
    kinds.Channel: _Check.channel,
    kinds.Direct: _Check.direct,
    kinds.ChannelTopic: _Check.topic,
    kinds.Subscription: _Check.subscription,
    kinds.File: _Check.file,
    kinds.Message: _Check.message,
    kinds.TopicChange: _Check.topic_change,
    kinds.ReadState: _Check.read_state,
    kinds.MessageMark: _Check.mark,
    kinds.TopicPolicyRecord: _Check.topic_policy,
    kinds.Draft: _Check.unsent,
    kinds.Snippet: _Check.snippet,
    kinds.ScheduledMessage: _Check.unsent,
    kinds.Reminder: _Check.reminder,
    Credentials: _Check.credentials,
    SentRequest: _Check.owned,
    Stored: _Check.owned,
}


def _is_in_utc(time: datetime) -> bool:
    """Whether the time is in a year from 1 to 9999 there as well: it is stored so."""
    try:
        time.astimezone(UTC)
    except OverflowError:
        return False
    return True


def _named(type: Any, is_meant: Callable[[Any], bool]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(type) if is_meant(field.type)]


def _is_time(hint: Any) -> bool:
    return hint in (kinds.Time, kinds.Time | None)


def _is_dated(hint: Any) -> bool:
    """A list of parts that have a time."""
    [of] = get_args(hint) if get_origin(hint) is list and len(get_args(hint)) == 1 else [None]
    return isinstance(of, type) and issubclass(of, Record) and bool(_named(of, _is_time))


@cache
def _times(kind: type[Record]) -> list[str]:
    return _named(kind, _is_time)


@cache
def _dated_parts(kind: type[Record]) -> list[str]:
    return _named(kind, _is_dated)


def _is_ascending(ranges: Numbers) -> bool:
    end: int | None = -1
    for first, after in ranges:
        if end is None or first <= end or (after is not None and after <= first):
            return False
        end = after
    return True
