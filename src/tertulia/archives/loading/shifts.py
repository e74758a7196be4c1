"""Which ids an archive has, and which ones they become: those of a kind stay, or all move by the same distance."""

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.form.kinds import MOST_ID, Record

MOST_KEPT = 10**12
"""Higher ids are moved down: whoever gets the next one of this server would have one after them."""
MOST_KEPT_REALM = 10**6
MOST_REALM = 2**31 - 1
"""Locks are taken by the number of a realm, which is an integer there."""
MOST_APART = 10**11
"""The first and the last id of a kind: all between are taken from everybody else here, for good."""


class Shifts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is added to the ids of each family; 0: they are kept."""

    realm: int = 0
    person: int = 0
    group: int = 0
    field: int = 0
    emoji: int = 0
    linkifier: int = 0
    playground: int = 0
    folder: int = 0
    conversation: int = 0
    topic: int = 0
    file: int = 0
    message: int = 0
    change: int = 0
    submessage: int = 0
    draft: int = 0
    snippet: int = 0
    reminder: int = 0


TABLES = {
    "realm": "realm",
    "person": "account",
    "group": "user_group",
    "field": "profile_field",
    "emoji": "custom_emoji",
    "linkifier": "linkifier",
    "playground": "playground",
    "folder": "channel_folder",
    "conversation": "conversation",
    "topic": "topic",
    "file": "attachment",
    "message": "message",
    "change": "message_revision",
    "submessage": "submessage",
    "draft": "draft",
    "snippet": "saved_snippet",
    "reminder": "reminder",
}
"""Of each family the table whose numbers it has. Scheduled messages have theirs from the messages."""
_PLAIN: dict[type[Record], str] = {
    kinds.Organization: "realm",
    kinds.Person: "person",
    kinds.Group: "group",
    kinds.ProfileField: "field",
    kinds.Emoji: "emoji",
    kinds.Linkifier: "linkifier",
    kinds.Playground: "playground",
    kinds.Folder: "folder",
    kinds.Channel: "conversation",
    kinds.Direct: "conversation",
    kinds.ChannelTopic: "topic",
    kinds.File: "file",
    kinds.Message: "message",
    kinds.ScheduledMessage: "message",
    kinds.TopicChange: "change",
    kinds.Draft: "draft",
    kinds.Snippet: "snippet",
    kinds.Reminder: "reminder",
}


class Spans:
    """The first and the last id of each family, as lines are seen."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, int]] = {}

    def see(self, record: Record) -> None:
        """One more line."""
        family = _PLAIN.get(type(record))
        if family is not None:
            self._add(family, record.id)  # type: ignore[attr-defined]
        if isinstance(record, kinds.Message):
            for change in record.changes:
                self._add("change", change.id)
            for said in record.submessages:
                self._add("submessage", said.id)

    def _add(self, family: str, id: int) -> None:
        first, last = self.found.get(family, (id, id))
        if not first < id < last:
            self.found[family] = (min(first, id), max(last, id))

    def check(self) -> None:
        """ArchiveFailed if an import would use up the ids of this server."""
        for family, (first, last) in self.found.items():
            if last - first > MOST_APART:
                raise ArchiveFailed(
                    f"Ids of {TABLES[family].replace('_', ' ')}s lie {last - first:,} apart ({first} and {last}), and"
                    f" {MOST_APART:,} is the most: all between would be taken from the other organizations here."
                )

    def has(self, family: str, id: int) -> bool:
        """Whether an id lies between the first and the last of its family."""
        first, last = self.found.get(family, (1, 0))
        return first <= id <= last


ROOM = 1_000_000
"""At least so many ids stay free after the last one of a family, for what a newer archive has; and as many as it has now."""


def reserved_for(family: str, span: tuple[int, int], shift: int) -> int:
    """The last id of a family that nobody else gets."""
    first, last = span
    return last + shift + (0 if family == "realm" else max(ROOM, last - first + 1))


def shift_of(family: str, span: tuple[int, int], *, highest: int, given: int) -> int:
    """Kept where no row has an id as high as the first of them; otherwise they begin after all that were ever given.

    An archive can say how high its ids are, so very high ones are not kept: the next id of everybody here comes after them.
    """
    first, last = span
    kept, most = (MOST_KEPT_REALM, MOST_REALM) if family == "realm" else (MOST_KEPT, MOST_ID)
    shift = 0 if highest < first and last <= kept else max(given, highest) + 1 - first
    if reserved_for(family, span, shift) > most:
        raise ArchiveFailed(
            f"This server has too few ids left for the {TABLES[family].replace('_', ' ')}s of the archive."
        )
    return shift
