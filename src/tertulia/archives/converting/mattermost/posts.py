"""What each post becomes: a message, or a line of the report."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from tertulia.archives.converting import markdown
from tertulia.archives.converting.accounts import SPEAKER
from tertulia.archives.converting.assembling import file_path
from tertulia.archives.converting.composing import Tally, addresses_of, linked_in
from tertulia.archives.converting.mattermost.attached import attached
from tertulia.archives.converting.mattermost.conversations import Rooms
from tertulia.archives.converting.mattermost.emoji import ExportEmoji
from tertulia.archives.converting.mattermost.people import People
from tertulia.archives.converting.mattermost.text import parse
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import Room
from tertulia.archives.converting.shelf import Shelf, Shelved, ShelvedFile
from tertulia.archives.converting.topics import EXCERPT
from tertulia.archives.converting.tree import Inline, Link, Paragraph, Text
from tertulia.archives.converting.values import Json, milliseconds, objects, string, strings
from tertulia.files.uploads.names import clean_name, url_of

JOINS = "joins and leaves"
CHANGES = "changes of channels: name, header, purpose, archiving"
NOTICES = "notices of the system"
_JOINS = ("join", "leave", "add_", "remove_", "added", "removed", "guest")
_CHANGES = ("header", "displayname", "purpose", "convert", "channel_deleted", "channel_restored", "change_chan")
_SPOKEN = ("system_auto_responder",)
"""What a person said, by a setting of theirs."""
_USUAL = ("", "me", "slack_attachment", "reminder", *_SPOKEN)
Find = Callable[[str], str | None]


@dataclass(frozen=True)
class References:
    """What posts refer to."""

    people: People
    rooms: Rooms
    emoji: ExportEmoji
    find: Find
    """The entry with a file, by the path that a post names."""
    seed: bytes


class Posts:
    """Puts posts on the shelf."""

    def __init__(self, known: References, shelf: Shelf, incidents: Incidents) -> None:
        self._known = known
        self._shelf = shelf
        self._incidents = incidents
        self._room: Room
        self._team = ""
        self._where = ""
        self._place = 0
        self._files = 0
        self.tally = Tally()

    # What texts refer to (Names)

    def person(self, username: str) -> int | None:
        """Whoever is mentioned."""
        return self._known.people.find(username)

    def channel(self, name: str) -> tuple[int, str] | None:
        """A public one, or this one: what a private one is called is not in the text."""
        rooms = self._known.rooms
        room = rooms.find(self._team, name) if self._team else rooms.find_by_name(name)
        is_told = room is not None and (not room.is_private or room is self._room)
        return (room.id, room.name) if room is not None and is_told else None

    def emoji(self, name: str) -> str | None:
        """One of ours or of theirs."""
        return self._known.emoji.name(name)

    # Posts

    def take(self, post: Json, where: str) -> None:
        """A post of a channel, with its replies."""
        self._team = string(post.get("team"))
        room = self._known.rooms.of_post(self._team, string(post.get("channel")))
        self._thread(post, room, where, "posts of other teams, or of no channel")

    def take_direct(self, post: Json, where: str) -> None:
        """A post to people, with its replies."""
        self._team = ""
        room = self._known.rooms.direct(strings(post.get("channel_members")))
        self._thread(post, room, where, "direct posts to nobody, or of other teams")

    def _thread(self, post: Json, room: Room | None, where: str, lost: str) -> None:
        replies = objects(post.get("replies"))
        self.tally.read += 1 + len(replies)
        if room is None:
            for _ in range(1 + len(replies)):
                self._incidents.lose(lost, where)
            return
        self._room = room
        for _ in objects(post.get("thread_followers")):
            self._incidents.lose("who follows a thread", where)
        began = self._one(post, where, 0, has_replies=bool(replies))
        for number, reply in enumerate(replies, 1):
            self._one(reply, f"{where}, reply {number}", 0 if room.is_direct else began, has_replies=False)

    def _one(self, post: Json, where: str, thread: int, *, has_replies: bool) -> int:
        """A post, and the time that it has here; 0 if it has none."""
        self._place += 1
        at = milliseconds(post.get("create_at"))
        self._where = f"{where}, {at}" if at else where
        if not at:
            self._incidents.lose("posts without a time", self._where)
            return 0
        sent = self._shelf.free_time(self._room.id, at)
        lost = _lost(post)
        if lost in (JOINS, CHANGES, NOTICES) and has_replies:
            self._incidents.change("notices that have replies: the notification bot says them", self._where)
            lost = ""
        if lost:
            self._incidents.lose(lost, self._where)
        else:
            self._import(post, sent, thread, has_replies=has_replies)
        return sent

    def _import(self, post: Json, sent: int, thread: int, *, has_replies: bool) -> None:
        kind = string(post.get("type"))
        if kind not in _USUAL and not kind.startswith("system_"):
            self._incidents.change("kinds of posts that are not known: taken as ordinary ones", self._where, kind)
        props = post.get("props") if isinstance(post.get("props"), dict) else {}
        assert isinstance(props, dict)
        sender = self._sender(post, props, kind)
        blocks = parse(self._message(post, kind), self) + attached(props, self)
        files: list[ShelvedFile] = []
        for one in objects(post.get("attachments")):
            blocks.append(Paragraph([self._file(one, sender, sent, files)]))
        texts = markdown.write(blocks)
        if not texts:
            self._incidents.lose("posts without a word", self._where)
            return
        if kind == "me":
            texts[0] = f"/me {texts[0]}"
        if len(texts) > 1:
            self._incidents.change("posts that were too long, and became several", self._where, str(len(texts)))
        self._count_lost_marks(post)
        reactions = self._reactions(post)
        if self._room.is_unknown and sender != SPEAKER:
            self._room.people.add(sender)
        excerpt = markdown.words_of(blocks)[:EXCERPT] if has_replies else ""
        message = Shelved(
            conversation=self._room.id,
            origin=self._room.number,
            sent=sent,
            place=self._place,
            part=0,
            thread=thread,
            sender=sender,
            content="",
            excerpt=excerpt,
            reactions=msgspec.json.encode(reactions).decode(),
            pinned=sent if post.get("is_pinned") is True else 0,
        )
        self._put(message, texts, files, [sender, *(one[0] for one in reactions)])
        for username in strings(post.get("flagged_by")):
            self._shelf.mark(self._place, self._known.people.person(username))
        self.tally.imported += 1

    def _put(self, message: Shelved, texts: list[str], files: list[ShelvedFile], people: list[int]) -> None:
        """What is there once belongs to the first of several parts. `people`: who took part by it."""
        addresses = addresses_of(files)
        for part, text in enumerate(texts):
            linked = linked_in(text, addresses)
            made = message._replace(part=part, content=text, files=msgspec.json.encode(linked).decode())
            self._shelf.add(
                made if not part else made._replace(excerpt="", reactions="[]", pinned=0), [] if part else people
            )

    def _message(self, post: Json, kind: str) -> str:
        """What somebody does is told in stars, which our command adds by itself."""
        text = string(post.get("message"))
        is_starred = kind == "me" and len(text) > 2 and text[0] == text[-1] == "*"
        return text[1:-1] if is_starred else text

    def _sender(self, post: Json, props: Json, kind: str) -> int:
        username = string(post.get("user"))
        shown = string(props.get("override_username")) or string(props.get("webhook_display_name"))
        if kind.startswith("system_") and kind not in _SPOKEN:
            return SPEAKER
        if shown.strip() and props.get("from_webhook") in ("true", True):
            return self._known.people.bot(username, shown.strip())
        if not username:
            self._incidents.change("posts without a sender", self._where)
        return self._known.people.person(username or "unknown")

    def _count_lost_marks(self, post: Json) -> None:
        if post.get("edit_at"):
            self._incidents.changed["posts that were edited: the mark and the old text do not come"] += 1

    def _reactions(self, post: Json) -> list[tuple[int, str, str, str, int]]:
        found: dict[tuple[int, str, str], tuple[int, str, str, str, int]] = {}
        for one in objects(post.get("reactions")):
            name, username = string(one.get("emoji_name")), string(one.get("user"))
            emoji = self._known.emoji.find(name)
            if emoji is None or not username:
                self._incidents.lose("reactions of nobody, or with emoji that are not known", self._where, name)
                continue
            person = self._known.people.person(username)
            ours, code, kind = emoji
            if (person, kind, code) in found:
                self._incidents.change("reactions that differ in skin tone only became one", self._where, name)
            at = milliseconds(one.get("create_at")) * 1000
            found[person, kind, code] = person, ours, code, kind, at
        return list(found.values())

    # Files

    def _file(self, said: Json, sender: int, sent: int, files: list[ShelvedFile]) -> Inline:
        path = string(said.get("path"))
        entry, shown = self._known.find(path), path.rpartition("/")[2] or "file"
        if entry is None:
            self._incidents.lose("files that are not in the export", self._where, path)
            return Text(f"{shown}: this file was not in the export.", italic=True)
        self._files += 1
        name = clean_name(shown)
        secret = hashlib.sha256(self._known.seed + entry.encode(errors="replace")).hexdigest()
        made = ShelvedFile(self._files, entry, sender, file_path(secret, name), name, sent, entry)
        shelved = self._shelf.add_file(made)
        self._files -= shelved.id != made.id
        files.append(shelved)
        return Link(url_of(shelved.path), shown)


def _lost(post: Json) -> str:
    """Why a post does not come, if it does not."""
    kind = string(post.get("type"))
    if post.get("delete_at"):
        return "posts that were deleted"
    if not kind.startswith("system_") or kind in _SPOKEN:
        return ""
    what = kind.removeprefix("system_")
    if what.startswith(_JOINS):
        return JOINS
    return CHANGES if what.startswith(_CHANGES) else NOTICES
