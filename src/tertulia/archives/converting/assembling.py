"""The archive itself: people and conversations from memory, messages from the shelf, each with the ids that all have by now."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from tertulia import __version__
from tertulia.archives.converting import markdown
from tertulia.archives.converting.entries import Unreadable
from tertulia.archives.converting.escaping import escape_label
from tertulia.archives.converting.ranges import runs
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.shelf import NOTICE_PART, Shelf, ShelvedFile
from tertulia.archives.converting.topics import Topics, time_of
from tertulia.archives.form import kinds
from tertulia.archives.form.container import ArchiveWriter
from tertulia.archives.form.manifest import Manifest
from tertulia.content.markup.references import encode_operand, slug
from tertulia.organization.custom_emoji.model import UNICODE

REALM_ID = 1
MOST_CONTENT = 10_000
MOST_FILE = 10 * 1024**3
"""Bytes of one file of somebody's."""
MOST_PICTURE = 32 * 1024 * 1024
Told = Callable[[str, int, int], None]
Pieces = Callable[[str], Iterator[bytes]]


@dataclass(frozen=True)
class World:
    """What is not messages. Ids of channels and directs are of one family."""

    source: str
    """Which organization it is, elsewhere."""
    made_of: str
    """What it comes from, for people."""
    organization: kinds.Organization
    profile_fields: list[kinds.ProfileField]
    people: list[kinds.Person]
    channels: list[kinds.Channel]
    directs: list[kinds.Direct]
    members: dict[int, list[int]]
    """Of each channel."""
    speaker: int
    """Who says what nobody said: the notification bot."""
    groups: list[kinds.Group] = field(default_factory=list)
    emoji: list[kinds.Emoji] = field(default_factory=list)
    folders: list[kinds.Folder] = field(default_factory=list)
    pictures: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Entries of the source, by whose they are: ("avatar", 7), ("emoji", 3)."""
    topic_names: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Of threads that have a name of their own, by channel and thread."""
    choices: Mapping[tuple[int, int], kinds.Choices] = field(default_factory=dict)
    """By channel and person."""
    seen: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    """By conversation and person: until when everything was read. Of whom nothing is said, they have read all."""


class Assembly:
    """Writes an archive, from its beginning to its end."""

    def __init__(self, world: World, shelf: Shelf, incidents: Incidents, told: Told) -> None:
        self._world = world
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._topics = Topics(shelf, f"imported from {world.made_of}", world.speaker, world.topic_names)
        self._names = {one.id: one.name for one in world.channels}
        self._participants = {one.id: one.participants for one in world.directs}
        self._private = {one.id: frozenset(world.members.get(one.id, ())) for one in world.channels if one.is_private}
        self._private |= {one.id: frozenset(one.participants) for one in world.directs}

    async def write(self, file: Path, pieces: Pieces) -> Manifest:
        """`pieces`: the bytes of an entry of the source."""
        self._pieces = pieces
        for channel in self._world.channels:
            self._topics.make(channel.id)
        self._told("sorting", 0, 1)
        self._shelf.number()
        span = self._shelf.span()
        moment = time_of(span[1]) if span else self._world.organization.created
        with file.open("wb") as target:
            self._writer = ArchiveWriter(target)
            self._write_all("organization", [self._world.organization])
            self._write_all("groups", self._world.groups)
            self._write_all("profile_fields", self._world.profile_fields)
            await self._write_people()
            await self._write_emoji()
            self._write_all("folders", self._world.folders)
            self._write_places()
            await self._write_files()
            self._write_messages()
            self._write_all("read_states", self._read_states())
            self._write_all("marks", self._marks())
            return self._writer.finish(
                Manifest(
                    made_by=f"tertulia {__version__} from {self._world.made_of}",
                    source=self._world.source,
                    moment=moment,
                    scope="everything",
                    counts={},
                    blobs=0,
                    blob_bytes=0,
                    parts=[],
                )
            )

    def _conversations(self) -> list[int]:
        return [one.id for one in self._world.channels] + [one.id for one in self._world.directs]

    def _add(self, record: kinds.Record) -> None:
        self._writer.add(msgspec.json.encode(record))

    def _write_all(self, kind: str, records: Iterable[kinds.Record]) -> None:
        self._writer.begin(kind)
        for record in records:
            self._add(record)

    # People and emoji, with their pictures

    async def _write_people(self) -> None:
        self._writer.begin("people")
        for person in self._world.people:
            self._add(msgspec.structs.replace(person, avatar=await self._picture("avatar", person.id)))

    async def _write_emoji(self) -> None:
        self._writer.begin("emoji")
        for emoji in self._world.emoji:
            picture = await self._picture("emoji", emoji.id)
            if picture is None:
                self._incidents.lose("pictures of custom emoji that are not in the export", emoji.name)
            self._add(msgspec.structs.replace(emoji, picture=picture))

    async def _picture(self, kind: str, id: int) -> kinds.Picture | None:
        entry = self._world.pictures.get((kind, id))
        if entry is None:
            return None
        try:
            return await self._blob(f"blobs/{kind}/{id}", entry, MOST_PICTURE, least=1)
        except Unreadable as problem:
            self._incidents.lose("pictures that cannot be read", entry, str(problem))
            return None

    async def _blob(self, name: str, entry: str, most: int, *, least: int = 0) -> kinds.Picture:
        """Read twice: what an entry says about its size is not believed."""
        size = sum(len(piece) for piece in self._pieces(entry))
        if not least <= size <= most:
            raise Unreadable(f"it has {size:,} bytes, and {most:,} are the most")
        return await self._writer.add_blob(name, size, _stream(self._pieces(entry)))

    # Places

    def _write_places(self) -> None:
        world = self._world
        numbers = {id: self._shelf.last_numbers(id) for id in self._conversations()}
        last = {id: max(found.values(), default=0) for id, found in numbers.items()}
        lines: dict[str, Iterator[kinds.Record]] = {
            "channels": (msgspec.structs.replace(one, last_number=last[one.id]) for one in world.channels),
            "directs": (msgspec.structs.replace(one, last_number=last[one.id]) for one in world.directs),
            "topics": self._made_topics(numbers),
            "subscriptions": (
                kinds.Subscription(channel_id=id, user_id=person, choices=world.choices.get((id, person)))
                for id in sorted(world.members)
                for person in sorted(set(world.members[id]))
            ),
        }
        for kind, records in lines.items():
            self._write_all(kind, records)

    def _made_topics(self, numbers: dict[int, dict[int, int]]) -> Iterator[kinds.ChannelTopic]:
        for (channel_id, thread), topic in self._topics.made.items():
            last = numbers[channel_id].get(thread, 0)
            if last or thread:
                yield kinds.ChannelTopic(
                    id=topic.id,
                    channel_id=channel_id,
                    name=topic.name,
                    last_number=last,
                    participants=self._shelf.participants(channel_id, thread),
                )

    # Files

    async def _write_files(self) -> None:
        self._writer.begin("files")
        for file in self._shelf.files():
            content = None
            try:
                content = await self._blob(f"blobs/file/{file.id}", file.entry, MOST_FILE)
            except Unreadable as problem:
                self._incidents.lose("files that cannot be read: their links lead nowhere", file.entry, str(problem))
            self._add(_file(file, content))
            self._told("files", self._writer.blobs, self._writer.blobs + 1)

    # Messages

    def _write_messages(self) -> None:
        self._writer.begin("messages")
        total = self._shelf.count()
        for conversation in self._conversations():
            for row in self._shelf.lines(conversation):
                self._add(self._message(conversation, *row))
                if not self._writer.counts["messages"] % 1000:
                    self._told("writing", self._writer.counts["messages"], total)

    def _message(
        self,
        conversation: int,
        id: Any,
        number: Any,
        sent: Any,
        part: Any,
        thread: Any,
        sender: Any,
        content: Any,
        reactions: Any,
        files: Any,
        pinned: Any,
    ) -> kinds.Message:
        is_direct = conversation in self._participants
        topic = None if is_direct else self._topics.made[conversation, thread]
        at = time_of(sent + (part if part < NOTICE_PART else 1))
        for place in list(markdown.places_in(content)):
            address = self._address(conversation, int(place[1]), int(place[2]))
            content = content.replace(place[0], address or place[3] or "#")
        if not is_direct and thread == 0 and part == 0 and (conversation, sent) in self._topics.made:
            content = self._leading_on(content, conversation, sent)
        return kinds.Message(
            id=id,
            conversation_id=conversation,
            number=number,
            topic_id=None if topic is None else topic.id,
            sender_id=sender,
            sent=at,
            content=content,
            reactions=[_reaction(at, *one) for one in msgspec.json.decode(reactions)],
            files=msgspec.json.decode(files),
            pinned=time_of(pinned) if pinned else None,
        )

    def _address(self, reading: int, conversation: int, sent: int) -> str | None:
        """Of a message, for those who read it in the conversation `reading`. An address says what channel and topic are called,
        and who talks to whom: None where somebody would learn it who cannot read there."""
        found = self._shelf.find(conversation, sent)
        if found is None or not self._may_know(reading, conversation):
            return None
        id, thread = found
        if conversation in self._participants:
            people = ",".join(map(str, self._participants[conversation]))
            return f"/#narrow/dm/{people}-dm/near/{id}"
        return f"{self._topic_address(conversation, thread)}/near/{id}"

    def _may_know(self, reading: int, conversation: int) -> bool:
        if reading == conversation or conversation not in self._private:
            return True
        return reading in self._private and self._private[reading] <= self._private[conversation]

    def _topic_address(self, channel_id: int, thread: int) -> str:
        topic = self._topics.made[channel_id, thread]
        return f"/#narrow/channel/{slug(channel_id, self._names[channel_id])}/topic/{encode_operand(topic.name)}"

    def _leading_on(self, content: str, channel_id: int, thread: int) -> str:
        topic = self._topics.made[channel_id, thread]
        count = "1 reply" if topic.replies == 1 else f"{topic.replies:,} replies"
        address = self._topic_address(channel_id, thread)
        line = f"\n\n[{count}: {escape_label(topic.name)}]({address})"
        return content + line if len(content) + len(line) <= MOST_CONTENT else f"{content}\n\n[{count}]({address})"

    # What people did with them

    def _read_states(self) -> Iterator[kinds.ReadState]:
        """What somebody wrote they have read, whatever the source says."""
        for conversation in sorted(self._world.seen):
            seen = self._world.seen[conversation]
            own: dict[int, list[int]] = {}
            for number, sent, sender in self._shelf.senders(conversation):
                if sent > seen.get(sender, sent):
                    own.setdefault(sender, []).append(number)
            for person in sorted(seen):
                last = self._shelf.number_at(conversation, seen[person])
                read = runs([*own.get(person, ()), *([last] if last else [])])
                ranges: kinds.Numbers = [(first if first > last else 1, end + 1) for first, end in read]
                yield kinds.ReadState(
                    conversation_id=conversation,
                    user_id=person,
                    read=ranges,
                    history=[(1, None)],
                )

    def _marks(self) -> Iterator[kinds.MessageMark]:
        inside = {id: frozenset(people) for id, people in (self._participants | self._world.members).items()}
        for person, conversation, message in self._shelf.marks():
            if person not in inside.get(conversation, ()):
                continue
            yield kinds.MessageMark(user_id=person, message_id=message, flag="starred")


def _reaction(
    sent: datetime, person: int, name: str, code: str, kind: kinds.EmojiKind = UNICODE, at: int = 0
) -> kinds.Reaction:
    """Sources that do not say when somebody reacted: when the message was sent."""
    when = time_of(at) if at else sent
    return kinds.Reaction(user_id=person, emoji_name=name, emoji_code=code, reaction_type=kind, at=when)


def file_path(seed: str, name: str) -> str:
    """How texts link a file: nobody guesses it who does not have the source."""
    return f"{REALM_ID}/{seed[:2]}/{seed[2:26]}/{name}"


def _file(file: ShelvedFile, content: kinds.Picture | None) -> kinds.File:
    return kinds.File(
        id=file.id,
        owner_id=file.owner,
        path=file.path,
        name=file.name,
        content_type="application/octet-stream",
        created=time_of(file.created),
        content=content,
    )


async def _stream(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
