"""What each document of the messages becomes: a message, or a line of the report."""

import re
from typing import Any

from tertulia.archives.converting.composing import Composed, Composer, Reaction
from tertulia.archives.converting.emoji import code_of
from tertulia.archives.converting.moments import Moments
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rocketchat.dump import Dump, Upload
from tertulia.archives.converting.rocketchat.people import People
from tertulia.archives.converting.rocketchat.places import Place, Places
from tertulia.archives.converting.rocketchat.text import link, parse, parse_inline
from tertulia.archives.converting.shelf import Shelf, ShelvedFile
from tertulia.archives.converting.tree import Block, Inline, Link, Paragraph, Quote, Text
from tertulia.archives.converting.values import Json, inner, milliseconds, objects, string, strings
from tertulia.archives.form import kinds
from tertulia.content.emoji import find_name
from tertulia.files.uploads.names import url_of
from tertulia.organization.custom_emoji.model import CUSTOM

INDEXED = frozenset(("_id", "rid", "ts"))
WANTED = INDEXED | frozenset(
    (
        *("msg", "u", "t", "tmid", "tcount", "editedAt", "reactions", "mentions", "channels", "file", "files"),
        *("attachments", "starred", "pinned", "pinnedAt", "alias", "bot", "_hidden"),
    )
)
DROPPED = {
    **dict.fromkeys(
        ("uj", "ujt", "ul", "ult", "ut", "au", "ru", "wm", "added-user-to-team", "removed-user-from-team"),
        "joins and leaves",
    ),
    **dict.fromkeys(
        (
            *("r", "subscription-role-added", "subscription-role-removed", "user-muted", "user-unmuted"),
            *("room-archived", "room-unarchived", "room-set-read-only", "room-removed-read-only"),
            *("room-allowed-reacting", "room-disallowed-reacting", "room_e2e_enabled", "room_e2e_disabled"),
        ),
        "changes of rooms: names, roles, rights",
    ),
    **dict.fromkeys(("message_pinned", "message_pinned_e2e", "message_snippeted"), "notices of pins"),
    "discussion-created": "notices of discussions",
    **dict.fromkeys(("videoconf", "jitsi_call_started", "command", "rtc"), "notices of calls and apps"),
    "e2e": "encrypted messages: nobody can read them without the key",
}
"""Kinds of system messages, and what they are."""
_CHANGES = re.compile(r"room_changed_\w+|user-\w+-(?:to|room-\w+)-?\w*")
_QUOTED = re.compile(r"\s*\[\s?\]\((?P<url>[^()\s]{1,2000})\)")
_UPLOAD = re.compile(r"(?:https?://[^/\s]+)?/(?:file-upload|ufs/[^/]+)/(?P<id>[A-Za-z0-9_-]{1,100})(?:/|\Z)")
_EVERYBODY = ("all", "here")


class Messages:
    """Turns documents into messages on the shelf."""

    def __init__(
        self,
        people: People,
        places: Places,
        moments: Moments,
        composer: Composer,
        shelf: Shelf,
        dump: Dump,
        incidents: Incidents,
        emoji: dict[str, kinds.Emoji],
    ) -> None:
        """`emoji`: custom ones, by each of their names there."""
        self._people, self._places, self._moments = people, places, moments
        self._composer, self._shelf, self._dump = composer, shelf, dump
        self._incidents = incidents
        self._emoji = emoji
        self._where, self._room = "", ""
        self._place: Place
        self._mentions: dict[str, int | str] = {}
        self._channels: dict[str, str] = {}

    # What texts refer to (Names)

    def mentioned(self, handle: str) -> int | str | None:
        """Whom the message itself names."""
        return self._mentions.get(handle)

    def channel(self, name: str) -> tuple[int, str] | None:
        """A channel that the message links: a public one, this one, or one whose name is told already."""
        place = self._places.find(self._channels.get(name, ""))
        if place is None or place.is_dropped or place.thread or place.room.is_direct:
            return None
        room = place.room
        is_told = not room.is_private or room.id == self._place.room.id or room.name.lower() == name.lower()
        return (room.id, room.name) if is_told else None

    def message(self, id: str) -> tuple[int, int] | None:
        """Where a link to a message leads."""
        return self._moments.find(id)

    def custom_emoji(self, name: str) -> str | None:
        """Our name of it."""
        found = self._emoji.get(name)
        return None if found is None else found.name

    # Documents

    def index(self, said: Json) -> None:
        """When it was sent: threads and links may name it before it comes."""
        id, room, sent = string(said.get("_id")), string(said.get("rid")), milliseconds(said.get("ts"))
        if id and room and sent:
            place = self._places.of(room)
            if not place.is_dropped:
                self._moments.add(id, place.room.id, sent)

    def take(self, said: Json) -> None:
        """One document."""
        self._composer.tally.read += 1
        id, room, kind = string(said.get("_id")), string(said.get("rid")), string(said.get("t"))
        self._where, self._room = id, room
        if not id or not room or not milliseconds(said.get("ts")):
            self._incidents.lose("messages without an id, a room or a time", f"{room} {id}")
            return
        self._place = self._places.of(room)
        found = self._moments.find(id)
        if self._place.is_dropped:
            self._incidents.lose("messages of live chats and calls with customers", id)
        elif found is None or found[0] != self._place.room.id:
            self._incidents.lose("messages whose id another one has", id)
        elif said.get("_hidden") is True:
            self._incidents.lose("older texts of edited messages", id)
        elif kind in DROPPED or _CHANGES.fullmatch(kind):
            self._incidents.lose(DROPPED.get(kind, DROPPED["r"]), id)
        elif kind == "rm" and not said.get("tcount"):
            self._incidents.lose("messages that were deleted", id)
        elif kind and kind != "rm":
            self._incidents.lose("kinds of system messages that are not known", id, kind)
        else:
            self._import(said, found[1], is_deleted=kind == "rm")

    def _import(self, said: Json, sent: int, *, is_deleted: bool) -> None:
        self._mentions = self._mentioned_by(said)
        self._channels = {
            string(one.get("name")): string(one.get("_id")) for one in objects(said.get("channels")) if one.get("name")
        }
        author = self._people.person(inner(said.get("u"))) if inner(said.get("u")) else None
        alias = string(said.get("alias")).strip()
        if author is None or (alias and said.get("bot")):
            author = self._people.bot(alias or "Unknown sender")
        files: list[ShelvedFile] = []
        blocks = self._said(said, author, sent, files)
        if is_deleted:
            blocks = [Paragraph([Text("This message was deleted.", italic=True)])]
        if said.get("editedAt"):
            self._incidents.changed["messages that were edited: the mark and the old text do not come"] += 1
        stars = [self._people.find(string(one.get("_id"))) for one in objects(said.get("starred"))]
        self._composer.put(
            Composed(
                room=self._place.room,
                sent=sent,
                sender=author,
                blocks=blocks,
                where=self._where,
                thread=self._thread(said),
                reactions=self._reactions(said),
                files=files,
                begins_thread=bool(said.get("tcount")),
                stars=[person for person in stars if person is not None],
                pinned=_pinned(said, sent),
            )
        )

    def _thread(self, said: Json) -> int:
        """Of a discussion all is one topic; of people who talk directly all is in order of time."""
        root = string(said.get("tmid"))
        if self._place.thread or self._place.room.is_direct or not root:
            return self._place.thread
        return self._moments.thread(root, self._place.room.id, milliseconds(said.get("ts")))

    def _mentioned_by(self, said: Json) -> dict[str, int | str]:
        found: dict[str, int | str] = {}
        for one in objects(said.get("mentions")):
            handle, key = string(one.get("username")), string(one.get("_id"))
            if key in _EVERYBODY:
                found[key] = "all"
            elif handle and string(one.get("type")) != "team":
                found[handle] = self._people.person(one)
        return found

    def _reactions(self, said: Json) -> list[Reaction]:
        found: dict[tuple[int, str], Reaction] = {}
        for key, about in inner(said.get("reactions")).items():
            name = key.strip(":")
            code, custom = code_of(name), self._emoji.get(name)
            if custom is None and code is None:
                self._incidents.lose("reactions with emoji that are not known", self._where, name)
                continue
            for handle in strings(inner(about).get("usernames")):
                person = self._people.named(handle)
                if person is None:
                    self._incidents.lose("reactions of names that nobody has any more", self._where, handle)
                elif custom is not None:
                    found[person, custom.name] = person, custom.name, str(custom.id), CUSTOM
                elif code is not None:
                    found[person, code] = person, find_name(code) or name, code
        return list(found.values())

    # What it says

    def _said(self, said: Json, author: int, sent: int, files: list[ShelvedFile]) -> list[Block]:
        text, attached = string(said.get("msg")), objects(said.get("attachments"))
        quoted = {string(one.get("message_link")) for one in attached} - {""}
        blocks: list[Block] = []
        end = 0
        while found := _QUOTED.match(text, end):  # a quote is a link without a word, with the words attached
            end = found.end()
            if found["url"] not in quoted:
                blocks.append(Paragraph([link(found["url"], "message", self)]))
        text = text[end:].lstrip(" ") if end else text
        quotes = [one for one in attached if one.get("message_link")]
        for one in quotes:
            blocks += self._attachment(one, 0)
        blocks += parse(text, self)
        for one in attached:
            if not one.get("message_link"):
                blocks += self._attachment(one, 0)
        for key, name in self._files_of(said, attached).items():
            line = self._file(key, name, author, sent, files)
            if line:
                blocks.append(Paragraph(line))
        return blocks

    def _attachment(self, said: Json, depth: int) -> list[Block]:
        if _file_of(said):
            return parse(string(said.get("description")), self)
        inside: list[Block] = []
        if head := self._head(said):
            inside.append(Paragraph(head))
        for key in ("pretext", "text", "description"):
            inside += parse(string(said.get(key)), self)
        for field in objects(said.get("fields")):
            title = string(field.get("title")).strip()
            label: list[Inline] = [Text(f"{title}:", bold=True), Text(" ")] if title else []
            inside.append(Paragraph([*label, *parse_inline(string(field.get("value")), self)]))
        for key in ("image_url", "audio_url", "video_url", "thumb_url"):
            if string(said.get(key)).startswith("https://"):
                inside.append(Paragraph([Link(said[key])]))
        if depth < 2:
            for one in objects(said.get("attachments")):
                inside += self._attachment(one, depth + 1)
        return [Quote(inside)] if inside else []

    def _head(self, said: Json) -> list[Inline]:
        name, title = string(said.get("author_name")).strip(), string(said.get("title")).strip()
        source, address = string(said.get("message_link")), string(said.get("title_link"))
        head: list[Inline] = []
        if source:
            head += (
                [Text(f"{name} "), link(source, "wrote", self), Text(":")] if name else [link(source, "message", self)]
            )
        elif name:
            head.append(Text(name, bold=True))
        if title:
            head += [*([Text(" ")] if head else []), Link(address, title) if address else Text(title, bold=True)]
        return head

    # Files

    def _files_of(self, said: Json, attached: list[Json]) -> dict[str, str]:
        """Ids and names, each once. Small copies of pictures are none."""
        found: dict[str, str] = {}
        for file in [*objects(said.get("files")), *objects([said.get("file")])]:
            found.setdefault(string(file.get("_id")), string(file.get("name")))
        for one in attached:
            if key := _file_of(one):
                found.setdefault(key, string(one.get("title")))
        found.pop("", None)
        kept = {}
        for key, name in found.items():
            upload = self._upload(key)
            if upload is None or upload.group != "thumb":
                kept[key] = name or (upload.name if upload else "")
        return kept

    def _file(self, key: str, name: str, author: int, sent: int, files: list[ShelvedFile]) -> list[Inline]:
        upload = self._upload(key)
        name = name or "file"
        if upload is None or not upload.entry:
            self._incidents.lose(
                "files whose bytes are not in the dump: their names stay", f"{self._where} {key}", name
            )
            return [Text(name, italic=True)]
        owner = self._people.find(upload.owner) if upload.owner else None
        shelved = self._composer.file(key, upload.name or name, author if owner is None else owner, sent, upload.entry)
        files.append(shelved)
        return [Link(url_of(shelved.path), name)]

    def _upload(self, key: str) -> Upload | None:
        """A file of this room. Anybody can name any file in Rocket.Chat, which then asks who is in the room it is of."""
        upload = self._dump.upload(key)
        if upload is None or upload.room in ("", self._room):
            return upload
        self._incidents.change("files of other rooms: only the name that the message gave them", self._where, key)
        return None


def _pinned(said: Json, sent: int) -> int:
    """When it was pinned; 0 if it is not."""
    return (milliseconds(said.get("pinnedAt")) * 1000 or sent) if said.get("pinned") is True else 0


def _file_of(said: dict[str, Any]) -> str:
    """The id of the file that an attachment shows."""
    for key in ("title_link", "image_url", "audio_url", "video_url"):
        if found := _UPLOAD.match(string(said.get(key))):
            return found["id"]
    return ""
