"""The archive itself: people and places from memory, messages and what hangs on them from the shelf."""

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from tertulia import __version__
from tertulia.archives.converting.assembling import Told
from tertulia.archives.converting.ranges import merged
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.tars import TarSource
from tertulia.archives.converting.topics import time_of
from tertulia.archives.converting.zulip.furniture import Furniture
from tertulia.archives.converting.zulip.messages import Past, history_of, read_of
from tertulia.archives.converting.zulip.people import People
from tertulia.archives.converting.zulip.places import Places
from tertulia.archives.converting.zulip.shelf import Shelf
from tertulia.archives.form import kinds
from tertulia.archives.form.container import ArchiveWriter
from tertulia.archives.form.manifest import Manifest

MOST_PICTURE = 32 * 1024 * 1024
POLICIES = {1: "muted", 2: "unmuted", 3: "followed"}
_MESSAGES = """
select message.id, number, message.topic, sender, sent, client, content, history
from numbered join message using (id) where numbered.conversation = ? order by number
"""
_FILES_OF = "select file from file_message join file on file.id = file where message = ? order by file"


@dataclass(frozen=True)
class World:
    """What is not on the shelf."""

    organization: kinds.Organization
    people: People
    places: Places
    furniture: Furniture
    pictures: dict[tuple[str, Any], str]
    """Entries of the tar, by whose they are: ("avatar", 7), ("emoji", 3), ("organization", "icon")."""
    created: datetime


class Assembly:
    """Writes an archive, from its beginning to its end."""

    def __init__(self, world: World, source: TarSource, shelf: Shelf, incidents: Incidents, told: Told) -> None:
        self._world = world
        self._source = source
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._last: dict[int, int] = dict(
            shelf.ask("select conversation, max(number) from numbered group by conversation")
        )
        self._last_of_topic: dict[int, int] = dict(
            shelf.ask("select topic, max(number) from numbered where topic > 0 group by topic")
        )
        self._directs = world.places.directs()
        self._recipients = {
            world.places.channel_of(id): id for (id,) in shelf.ask("select distinct recipient from subscription")
        }
        self._changes = itertools.count(1)

    async def write(self, file: Path, origin: str) -> Manifest:
        """`origin`: which organization it is."""
        [(newest,)] = self._shelf.ask("select max(sent) from message")
        with file.open("wb") as target:
            self._writer = ArchiveWriter(target)
            await self._write_organization()
            self._write_all("groups", self._world.furniture.groups)
            self._write_all("profile_fields", self._world.furniture.fields)
            await self._write_people()
            await self._write_emoji()
            self._write_all("linkifiers", self._world.furniture.linkifiers())
            self._write_all("playgrounds", self._world.furniture.playgrounds())
            self._write_all("folders", self._world.places.folders)
            names = self._world.furniture.group_names
            self._write_all("channels", self._world.places.records(self._world.created, self._last, names))
            self._write_all("directs", self._direct_lines())
            self._write_all("topics", self._topics())
            self._write_all("subscriptions", self._subscriptions())
            await self._write_files()
            self._write_messages()
            self._write_all("read_states", self._read_states())
            self._write_all("marks", self._marks())
            self._write_all("topic_policies", self._policies())
            return self._writer.finish(
                Manifest(
                    made_by=f"tertulia {__version__} from Zulip",
                    source=origin,
                    moment=time_of(newest) if newest else self._world.created,
                    scope="everything",
                    counts={},
                    blobs=0,
                    blob_bytes=0,
                    parts=[],
                )
            )

    def _write_all(self, kind: str, lines: Iterable[kinds.Record]) -> None:
        self._writer.begin(kind)
        for line in lines:
            self._writer.add(msgspec.json.encode(line))

    # With bytes

    async def _picture(self, kind: str, of: Any) -> kinds.Picture | None:
        name = self._world.pictures.get((kind, of))
        if name is None:
            return None
        if self._source.size(name) > MOST_PICTURE:
            self._incidents.lose("pictures that are too large", name)
            return None
        return await self._blob(f"blobs/{kind}/{of}", name)

    async def _blob(self, blob: str, name: str) -> kinds.Picture:
        size = self._source.size(name)
        return await self._writer.add_blob(blob, size, _stream(self._source.pieces(name, size)))

    async def _write_organization(self) -> None:
        self._writer.begin("organization")
        found = {kind: await self._picture("organization", kind) for kind in ("icon", "logo", "night_logo")}
        self._writer.add(msgspec.json.encode(msgspec.structs.replace(self._world.organization, **found)))

    async def _write_people(self) -> None:
        self._writer.begin("people")
        for person in self._world.people.records(self._world.created):
            avatar = await self._picture("avatar", person.id)
            self._writer.add(msgspec.json.encode(msgspec.structs.replace(person, avatar=avatar)))

    async def _write_emoji(self) -> None:
        self._writer.begin("emoji")
        for id, emoji in self._world.furniture.emoji.items():
            picture = await self._picture("emoji", id)
            if picture is None:
                self._incidents.lose("pictures of custom emoji that are not in the export", emoji.name)
            self._writer.add(msgspec.json.encode(msgspec.structs.replace(emoji, picture=picture)))

    async def _write_files(self) -> None:
        self._writer.begin("files")
        total = self._shelf.count("file")
        for done, (id, owner, path, name, type_, created, entry) in enumerate(
            self._shelf.ask("select * from file order by id"), 1
        ):
            content = None
            if self._source.has(entry):
                content = await self._blob(f"blobs/file/{id}", entry)
            else:
                self._incidents.lose("files that are not in the export: their links lead nowhere", path)
            line = kinds.File(
                id=id,
                owner_id=owner,
                path=path,
                name=name,
                content_type=type_,
                created=time_of(created),
                content=content,
            )
            self._writer.add(msgspec.json.encode(line))
            self._told("files", done, total)

    # Places

    def _direct_lines(self) -> Iterator[kinds.Direct]:
        for id, people in self._directs.items():
            yield kinds.Direct(id=id, participants=list(people), last_number=self._last.get(id, 0))

    def _topics(self) -> Iterator[kinds.ChannelTopic]:
        groups = itertools.groupby(self._shelf.participants(), key=lambda row: row[0])
        for id, rows in groups:
            channel, name = self._world.places.topic_names[id]
            people = [person for _, person in rows]
            yield kinds.ChannelTopic(
                id=id, channel_id=channel, name=name, last_number=self._last_of_topic[id], participants=people
            )

    def _subscribers(self, channel: int) -> list[tuple[int, int, str]]:
        sql = "select person, active, choices from subscription where recipient = ? order by person"
        return list(self._shelf.ask(sql, self._recipients.get(channel, 0)))

    def _subscriptions(self) -> Iterator[kinds.Subscription]:
        for channel in sorted(self._world.places.channels):
            for person, active, choices in self._subscribers(channel):
                yield kinds.Subscription(
                    channel_id=channel,
                    user_id=person,
                    is_active=bool(active),
                    choices=msgspec.json.decode(choices, type=kinds.Choices),
                )

    # Messages

    def _write_messages(self) -> None:
        self._writer.begin("messages")
        total = self._shelf.count("message")
        for conversation in (*sorted(self._world.places.channels), *self._directs):
            for row in self._shelf.ask(_MESSAGES, conversation):
                self._writer.add(msgspec.json.encode(self._message(conversation, *row)))
                if not self._writer.counts["messages"] % 1000:
                    self._told("writing", self._writer.counts["messages"], total)

    def _message(
        self,
        conversation: int,
        id: int,
        number: int,
        topic: int,
        sender: int,
        sent: int,
        client: str,
        content: str,
        history: str,
    ) -> kinds.Message:
        at = time_of(sent)
        reactions = self._shelf.ask(
            "select person, name, code, kind from reaction where message = ? order by rowid", id
        )
        said = self._shelf.ask("select id, person, type, content from submessage where message = ? order by id", id)
        return kinds.Message(
            id=id,
            conversation_id=conversation,
            number=number,
            topic_id=topic or None,
            sender_id=sender,
            sent=at,
            client=client,
            content=content,
            reactions=[
                kinds.Reaction(user_id=person, emoji_name=name, emoji_code=code, reaction_type=kind, at=at)
                for person, name, code, kind in reactions
            ],
            changes=[]
            if history == "[]"
            else [self._change(one) for one in msgspec.json.decode(history, type=list[Past])],
            submessages=[
                kinds.Submessage(id=one, sender_id=person, type=type_, content=text, at=at)
                for one, person, type_, text in said
            ],
            files=[file for (file,) in self._shelf.ask(_FILES_OF, id)],
        )

    def _change(self, one: Past) -> kinds.Change:
        return kinds.Change(
            id=next(self._changes),
            user_id=one.person,
            at=time_of(one.at),
            content=one.content,
            topic=one.topic,
            new_topic=one.new_topic,
            channel_id=one.channel,
            new_channel_id=one.new_channel,
        )

    # What was read

    def _ranges(self, table: str, conversation: int) -> dict[int, list[tuple[int, int]]]:
        sql = f"select person, first, last from {table} where conversation = ? order by person, first"  # noqa: S608
        rows = itertools.groupby(self._shelf.ask(sql, conversation), key=lambda row: row[0])
        return {person: list(merged((first, last) for _, first, last in of)) for person, of in rows}

    def _read_states(self) -> Iterator[kinds.ReadState]:
        """Where nothing is said all is read, and was received: of channels that hide what was before, all is said."""
        for channel in sorted(self._world.places.channels):
            unread, last = self._ranges("unread", channel), self._last.get(channel, 0)
            is_protected = self._world.places.channels[channel].is_protected
            received = self._ranges("received", channel) if is_protected else {}
            for person, active, _ in self._subscribers(channel):
                read = read_of(unread.get(person, ()), last)
                if is_protected:
                    is_idle = self._world.people.all[person].is_idle
                    history = history_of(received.get(person, []), last, is_active=bool(active), is_idle=is_idle)
                elif person in unread and active:
                    history = [(1, None)]
                else:
                    continue
                yield kinds.ReadState(conversation_id=channel, user_id=person, read=read, history=history)
        for direct, people in self._directs.items():
            unread, last = self._ranges("unread", direct), self._last.get(direct, 0)
            for person in people:
                if person in unread:
                    read = read_of(unread[person], last)
                    yield kinds.ReadState(conversation_id=direct, user_id=person, read=read, history=[(1, None)])

    def _marks(self) -> Iterator[kinds.MessageMark]:
        for person, message, flag in self._shelf.ask("select * from mark order by person, message, flag"):
            yield kinds.MessageMark(user_id=person, message_id=message, flag=flag)

    def _policies(self) -> Iterator[kinds.TopicPolicyRecord]:
        """By person and topic. Topics in which nothing was said are none here."""
        sql = "select person, stream, name, policy, at from policy order by person"
        for person, rows in itertools.groupby(self._shelf.ask(sql), key=lambda row: row[0]):
            found: dict[int, kinds.TopicPolicyRecord] = {}
            for _, stream, name, policy, at in rows:
                topic = self._world.places.find_topic(stream, name)
                if topic not in self._last_of_topic:
                    self._incidents.lose("choices about topics without messages", f"person {person}", name)
                    continue
                moment = time_of(at) if at else self._world.created
                found[topic] = kinds.TopicPolicyRecord(
                    user_id=person,
                    topic_id=topic,
                    policy=POLICIES[policy],  # type: ignore[arg-type]
                    at=moment,
                )
            yield from (found[topic] for topic in sorted(found))


async def _stream(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
