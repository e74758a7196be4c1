"""Lines of messages become rows, with HTML made here. Runs in processes of its own: this is most of an import's work."""

import os
import threading
from collections.abc import Mapping
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Any, ClassVar

import msgspec

from tertulia.archives.form.kinds import Message, Reaction
from tertulia.archives.loading.shifts import Shifts
from tertulia.archives.loading.texts import Rewriter
from tertulia.content.markup import (
    Channel,
    Context,
    MentionableGroup,
    MentionablePerson,
    Rendered,
    TooLarge,
    Upload,
    WantedNames,
    render,
    wanted,
)
from tertulia.content.markup.escaping import escape
from tertulia.content.markup.remote import RemotePicture
from tertulia.conversations.read_state.marks import WILDCARDS
from tertulia.kernel.auth import Role
from tertulia.kernel.text import name_key_of
from tertulia.messaging.sending.composing import facts_of

Row = tuple[Any, ...]


class Author(msgspec.Struct, frozen=True, gc=False):
    """What somebody's texts depend on."""

    role: int
    translates_emoticons: bool
    hidden: frozenset[int] = frozenset()
    """Of a guest who does not see everybody: whom they do not see."""


class LinkedFile(msgspec.Struct, frozen=True):
    """A file that a message links."""

    id: int
    upload: Upload
    is_waiting: bool


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What names in texts stand for, with the ids that they have here, and how texts are changed."""

    realm_id: int
    base: Context
    """Without names: those that a text has are added."""
    shifts: Shifts
    old_realm_id: int
    sources: list[str]
    people: list[MentionablePerson]
    authors: dict[int, Author]
    groups: dict[str, MentionableGroup]
    channels: dict[str, Channel]
    closed: dict[int, frozenset[int]]
    """Who is or was in a channel that is not open to all members."""
    guest_channels: dict[int, frozenset[int]]
    """The channels that a guest is or was in."""


class Batch(msgspec.Struct, frozen=True):
    """Messages that are written together."""

    lines: list[Message]
    files: dict[int, LinkedFile]
    """By the id that the archive has."""
    topics: dict[int, dict[tuple[str, str], int]]
    """Of messages that link topics: the newest message that each had then, by the channel's name and the topic's key."""


class Written(msgspec.Struct):
    """Rows by their tables, and what is done by statements."""

    tables: dict[str, list[Row]]
    remote: list[tuple[int, int, RemotePicture]]
    unrendered: int = 0
    """Texts whose HTML would be too large: they are shown as they were written."""


COLUMNS = {
    "message": (
        *(
            "id",
            "realm_id",
            "conversation_id",
            "seq",
            "topic_id",
            "sender_id",
            "sent_at",
            "client",
            "content",
            "rendered",
        ),
        *("wildcard", "has_link", "has_image", "has_attachment", "arrived", "topic_since"),
    ),
    "reaction": ("message_id", "user_id", "emoji_name", "emoji_code", "reaction_type", "reacted_at"),
    "message_revision": (
        *("id", "message_id", "user_id", "changed_at", "prev_content", "prev_rendered", "prev_topic", "topic"),
        *("prev_channel_id", "channel_id", "number"),
    ),
    "submessage": (
        *("id", "message_id", "sender_id", "msg_type", "content", "sent_at"),
        *("number", "size", "own_number", "own_size"),
    ),
    "message_group_mention": ("message_id", "group_id"),
    "attachment_link": ("message_id", "attachment_id", "is_waiting"),
    "link_preview_removed": ("message_id", "url"),
    "pin": ("message_id", "conversation_id", "topic_id", "pinned_at"),
}
"""In the order in which they are written."""


class Renderer:
    """One of a process: the world with its names made searchable."""

    current: ClassVar["Renderer"]

    def __init__(self, world: World) -> None:
        self._world = world
        self._shifts = world.shifts
        self._rewriter = Rewriter(world.shifts, world.old_realm_id, world.sources, world.base.realm_url)
        self._by_id = {person.id: person for person in world.people}
        self._by_name: dict[str, list[MentionablePerson]] = {}
        for person in world.people:
            self._by_name.setdefault(person.name.lower(), []).append(person)

    def write(self, batch: Batch) -> Written:
        """The rows of a batch."""
        written = Written({table: [] for table in COLUMNS}, [])
        for line in batch.lines:
            self._message(line, batch, written)
        return written

    def _message(self, line: Message, batch: Batch, written: Written) -> None:
        shifts, tables = self._shifts, written.tables
        id, sender = line.id + shifts.message, line.sender_id + shifts.person
        files = [batch.files[file] for file in line.files]
        content = self._rewriter.text(line.content)
        topics = batch.topics.get(line.id, {})
        rendered = self._rendered(content, sender, files, topics, written)
        facts = facts_of(rendered)
        conversation_id = line.conversation_id + shifts.conversation
        topic_id = None if line.topic_id is None else line.topic_id + shifts.topic
        tables["message"].append((
            *(id, self._world.realm_id, conversation_id, line.number, topic_id),
            *(sender, line.sent, line.client, content, rendered.html),
            *(facts & WILDCARDS, rendered.has_link, rendered.has_image, rendered.has_attachment),
            *(line.arrived, max(0, line.topic_since + shifts.change) if line.topic_since else 0),
        ))  # fmt: skip
        tables["reaction"] += [self._reaction(id, one) for one in line.reactions]
        self._revisions(id, line, files, written)
        self._submessages(id, line, written)
        tables["message_group_mention"] += [(id, group) for group in sorted(rendered.mentioned_group_ids)]
        shown = set(rendered.attachment_paths)
        tables["attachment_link"] += [(id, one.id, one.is_waiting and one.upload.path in shown) for one in files]
        tables["link_preview_removed"] += [(id, url) for url in dict.fromkeys(line.hidden_previews)]
        if line.pinned is not None:
            tables["pin"].append((id, conversation_id, topic_id, line.pinned))
        written.remote += [(id, self._world.realm_id, one) for one in rendered.remote]

    def _reaction(self, message_id: int, one: Reaction) -> Row:
        code = self._rewriter.emoji_code(one.reaction_type, one.emoji_code)
        return message_id, one.user_id + self._shifts.person, one.emoji_name, code, one.reaction_type, one.at

    def _revisions(self, message_id: int, line: Message, files: list[LinkedFile], written: Written) -> None:
        number = 0
        for change in line.changes:
            before = html = None
            if change.content is not None:
                number += 1
                before = self._rewriter.text(change.content)
                html = self._rendered(before, line.sender_id + self._shifts.person, files, {}, written).html
            row = change_row(change, self._shifts)
            count = None if before is None else number
            written.tables["message_revision"].append((
                row[0], message_id, *row[1:3], before, html, *row[3:], count
            ))  # fmt: skip

    def _submessages(self, message_id: int, line: Message, written: Written) -> None:
        number = size = 0
        own: dict[int, tuple[int, int]] = {}
        for place, said in enumerate(sorted(line.submessages, key=lambda one: one.id)):
            content = self._rewriter.submessage(said.content)
            if place:  # the first one opens the widget, and counts nothing
                length = len(content.encode())
                number, size = number + 1, size + length
                mine = own.get(said.sender_id, (0, 0))
                own[said.sender_id] = mine[0] + 1, mine[1] + length
            totals = (number, size, *own.get(said.sender_id, (0, 0))) if place else (0, 0, 0, 0)
            sender = said.sender_id + self._shifts.person
            row = (said.id + self._shifts.submessage, message_id, sender, said.type, content, said.at)
            written.tables["submessage"].append((*row, *totals))

    def _rendered(
        self,
        content: str,
        sender: int,
        files: list[LinkedFile],
        topics: Mapping[tuple[str, str], int],
        written: Written,
    ) -> Rendered:
        try:
            return self.render(content, sender, files, topics)
        except TooLarge:
            written.unrendered += 1
            return Rendered(html=f"<p>{escape(content)}</p>")

    def text(self, content: str, author_id: int) -> tuple[str, str]:
        """A text that is no message yet, with its HTML. Pictures from elsewhere are links in it."""
        content = self._rewriter.text(content)
        try:
            return content, self.render(content, author_id, [], {}, shows_remote=False).html
        except TooLarge:
            return content, f"<p>{escape(content)}</p>"

    def render(
        self,
        content: str,
        author_id: int,
        files: list[LinkedFile],
        topics: Mapping[tuple[str, str], int],
        *,
        shows_remote: bool = True,
    ) -> Rendered:
        """As sending does: a name that its author does not reach stands for nothing."""
        names, author = wanted(content), self._world.authors[author_id]
        context = self._world.base
        if names or author.translates_emoticons or not shows_remote:
            channels = self._channels(names, author_id, author)
            by_name = {channel.name: channel.id for channel in channels}
            context = msgspec.structs.replace(
                context,
                picture_key=context.picture_key if shows_remote else "",
                people=self._people(names, author),
                groups=tuple(group for name in names.group_names if (group := self._world.groups.get(name))),
                channels=channels,
                topics={(by_name[name], key): id for (name, key), id in topics.items() if name in by_name},
                uploads={one.upload.path: one.upload for one in files},
                translate_emoticons=author.translates_emoticons,
            )
        return render(content, context)

    def _people(self, names: WantedNames, author: Author) -> tuple[MentionablePerson, ...]:
        found = [person for id in names.person_ids if (person := self._by_id.get(id))]
        found += [person for name in names.person_names for person in self._by_name.get(name, ())]
        return tuple({person.id: person for person in found if person.id not in author.hidden}.values())

    def _channels(self, names: WantedNames, author_id: int, author: Author) -> tuple[Channel, ...]:
        found = [channel for name in names.channel_names if (channel := self._world.channels.get(name_key_of(name)))]
        return tuple(channel for channel in found if self._reads(channel.id, author_id, author))

    def _reads(self, channel_id: int, author_id: int, author: Author) -> bool:
        if author.role == Role.GUEST:
            return channel_id in self._world.guest_channels.get(author_id, ())
        return channel_id not in self._world.closed or author_id in self._world.closed[channel_id]


def change_row(change: Any, shifts: Shifts) -> Row:
    """Of a change of a message or a topic: its id, who, when, both topics, both channels."""
    return (
        change.id + shifts.change,
        None if change.user_id is None else change.user_id + shifts.person,
        *(change.at, change.topic, change.new_topic),
        None if change.channel_id is None else change.channel_id + shifts.conversation,
        None if change.new_channel_id is None else change.new_channel_id + shifts.conversation,
    )


# In a process of its own


def start_process(world: World) -> None:
    """What a new process does first. It ends with the one that it works for, however that ends."""
    Renderer.current = Renderer(world)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def write_in_process(batch: Batch) -> Written:
    """The rows of a batch."""
    return Renderer.current.write(batch)
