"""What each entry of a day becomes: a message, or a line of the report."""

import hashlib
import re
from collections.abc import Iterator

import msgspec

from tertulia.archives.converting import markdown
from tertulia.archives.converting.accounts import SPEAKER
from tertulia.archives.converting.assembling import file_path
from tertulia.archives.converting.composing import Tally, addresses_of, linked_in
from tertulia.archives.converting.emoji import code_of
from tertulia.archives.converting.fetching import RemoteFile, without_secrets
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import Room
from tertulia.archives.converting.shelf import Shelf, Shelved, ShelvedFile
from tertulia.archives.converting.slack.blocks import few, text_of
from tertulia.archives.converting.slack.conversations import Rooms, microseconds
from tertulia.archives.converting.slack.people import People
from tertulia.archives.converting.slack.text import parse
from tertulia.archives.converting.topics import EXCERPT
from tertulia.archives.converting.tree import Block, Inline, Link, Paragraph, Text
from tertulia.archives.converting.values import Json, objects, string
from tertulia.content.emoji import find_name
from tertulia.files.uploads.names import clean_name, url_of

DROPPED = {
    **dict.fromkeys(("channel_join", "channel_leave", "group_join", "group_leave"), "joins and leaves"),
    **{
        f"{room}_{what}": "changes of channels: topic, purpose, name, archiving"
        for room in ("channel", "group")
        for what in ("topic", "purpose", "name", "archive", "unarchive", "posting_permissions", "convert_to_private")
    },
    **dict.fromkeys(("pinned_item", "unpinned_item"), "notices of pins"),
    **dict.fromkeys(
        (
            *("slackbot_response", "reminder_add", "bot_remove", "bot_enable", "bot_disable", "app_conversation_join"),
            *("channel_canvas_updated", "group_canvas_updated", "dm_canvas_updated", "canvas_updated"),
        ),
        "notices of apps",
    ),
    **dict.fromkeys(("message_changed", "message_deleted"), "records of edits and deletions"),
    "reply_broadcast": "second copies of replies that were also shown in the channel",
}
"""Kinds of entries that do not come, and what they are."""
ACTIONS = ("me_message", "bot_add", "sh_room_created")
USUAL = ("", "file_share", "thread_broadcast", "bot_message", "file_comment", "tombstone", "huddle_thread", *ACTIONS)
GONE = ("tombstone", "hidden_by_limit")
_SHARED = re.compile(r"(?:<@[^<>]+> )?(?:uploaded|shared) a file: <[^<>]+>(?: and commented: |\Z)")
"""What Slack wrote until 2018 for whoever shared a file, before what they said of it. The file has its link anyway."""


class Messages:
    """Turns entries into messages on the shelf."""

    def __init__(
        self, people: People, rooms: Rooms, shelf: Shelf, incidents: Incidents, files: dict[str, str], seed: bytes
    ) -> None:
        """`files`: entries of the zip with the bytes of files, by the ids of these."""
        self._people = people
        self._rooms = rooms
        self._shelf = shelf
        self._incidents = incidents
        self._files = files
        self._seed = seed
        self._room: Room
        self._where = ""
        self._file_ids: dict[str, int] = {}
        self._place = 0
        self.tally = Tally()

    # What texts refer to (Names)

    def person(self, slack_id: str, label: str = "") -> int:
        """Whoever is mentioned."""
        return self._people.person(slack_id, label)

    def channel(self, slack_id: str, label: str) -> tuple[int, str] | None:
        """A public one; a private one if the text itself says what it is called, or it is this one."""
        room = self._rooms.find(slack_id)
        if room is None or room.is_direct:
            return None
        is_told = bool(label) or not room.is_private or room.id == self._room.id
        return (room.id, room.name) if is_told else None

    def conversation(self, slack_id: str) -> int | None:
        """Where a link to a message leads."""
        room = self._rooms.find(slack_id)
        return None if room is None else room.id

    def count(self, what: str, example: str = "") -> None:
        """Of a text."""
        self._incidents.change(what, self._where, example)

    # Entries

    def take(self, entry: Json, room: Room, where: str) -> None:
        """One entry of a day."""
        self.tally.read += 1
        self._place += 1
        self._room = room
        stamp = entry.get("ts")
        self._where = f"{where} {stamp if isinstance(stamp, str) else ''}".strip()
        sent = microseconds(stamp)
        subtype = string(entry.get("subtype"))
        if entry.get("type", "message") != "message":
            self._incidents.lose("entries that are no messages", self._where, string(entry.get("type")))
        elif not sent:
            self._incidents.lose("messages without a time", self._where, str(stamp)[:50])
        elif subtype in DROPPED:
            self._incidents.lose(DROPPED[subtype], self._where)
        elif entry.get("user") == "U00":
            self._incidents.lose("traces of renamed people", self._where)
        else:
            self._import(entry, sent, subtype)

    def _import(self, entry: Json, sent: int, subtype: str) -> None:
        if subtype not in USUAL:
            self._incidents.change("kinds of messages that are not known: taken as ordinary ones", self._where, subtype)
        blocks, files = self._said(entry, subtype), list[ShelvedFile]()
        for file in [*few(entry.get("files"), self), *objects([entry.get("file")])]:
            blocks.append(Paragraph(self._file(file, entry, sent, files)))
        texts = markdown.write(blocks)
        if not texts:
            self._incidents.lose("messages without a word", self._where)
            return
        if subtype in ACTIONS:
            texts[0] = f"/me {texts[0]}"
        sender = self._sender(entry, subtype)
        if self._room.is_unknown:
            self._room.people.add(sender)
        if len(texts) > 1:
            self._incidents.change("messages that were too long, and became several", self._where, str(len(texts)))
        if entry.get("edited"):
            self._incidents.changed["messages that were edited: the mark and the old text do not come"] += 1
        reactions = self._reactions(entry)
        thread, is_parent = self._thread(entry, sent)
        excerpt = markdown.words_of(blocks)[:EXCERPT] if is_parent else ""
        addresses = addresses_of(files)
        pinned = self._room.pins.pop(sent, 0)  # of what is there twice, the first is kept
        for part, text in enumerate(texts):
            linked = linked_in(text, addresses)
            message = Shelved(
                conversation=self._room.id,
                origin=self._room.number,
                sent=sent,
                place=self._place,
                part=part,
                thread=thread,
                sender=sender,
                content=text,
                excerpt="" if part else excerpt,
                reactions="[]" if part else msgspec.json.encode(reactions).decode(),
                files=msgspec.json.encode(linked).decode(),
                pinned=0 if part else pinned,
            )
            self._shelf.add(message, [] if part else [sender, *(person for person, _, _ in reactions)])
        self.tally.imported += 1

    def _said(self, entry: Json, subtype: str) -> list[Block]:
        if subtype == "tombstone":
            return [Paragraph([Text("This message was deleted.", italic=True)])]
        if subtype == "huddle_thread":
            return [Paragraph([Text("A huddle took place.", italic=True)])]
        comment = entry.get("comment")
        if subtype == "file_comment" and isinstance(comment, dict):
            return parse(string(comment.get("comment")), self)
        text = string(entry.get("text"))
        if subtype == "file_share" and isinstance(entry.get("file"), dict) and (found := _SHARED.match(text)):
            return text_of({**entry, "text": text[found.end() :]}, self)
        return text_of(entry, self)

    def _sender(self, entry: Json, subtype: str) -> int:
        user, bot_id = string(entry.get("user")), string(entry.get("bot_id"))
        inner = entry.get({"file_comment": "comment", "huddle_thread": "room"}.get(subtype, ""))
        if isinstance(inner, dict):
            user = string(inner.get("user")) or string(inner.get("created_by")) or user
        if subtype == "tombstone":
            return SPEAKER
        if bot_id and (subtype == "bot_message" or not user or not self._people.has(user)):
            profile = entry.get("bot_profile")
            name = string(entry.get("username")) or (string(profile.get("name")) if isinstance(profile, dict) else "")
            return self._people.bot(bot_id, name)
        if user:
            profile = entry.get("user_profile")
            label = (
                "" if not isinstance(profile, dict) else string(profile.get("real_name")) or string(profile.get("name"))
            )
            return self._people.person(user, label)
        if username := string(entry.get("username")):
            return self._people.bot("", username)
        self._incidents.change("messages without a sender", self._where)
        return self._people.person("UNKNOWN", "Unknown")

    def _thread(self, entry: Json, sent: int) -> tuple[int, bool]:
        """The thread that it answers in, and whether it began one. People who talk directly have no topics."""
        began = microseconds(entry.get("thread_ts"))
        if self._room.is_direct or not began:
            return 0, bool(entry.get("reply_count")) and not self._room.is_direct
        return (0, True) if began == sent else (began, False)

    def _reactions(self, entry: Json) -> list[tuple[int, str, str]]:
        found: dict[tuple[int, str], tuple[int, str, str]] = {}
        for one in objects(entry.get("reactions")):
            name = string(one.get("name"))
            who = one.get("users")
            users = [user for user in who if isinstance(user, str) and user] if isinstance(who, list) else []
            code = code_of(name)
            if code is None:
                self._incidents.lose("reactions with custom emoji, which are not in the export", self._where, name)
                continue
            missing = one.get("count")
            if isinstance(missing, int) and missing > len(users):
                self._incidents.lose("reactions of which the export does not say who", self._where, name)
            for user in users:
                person = self._people.person(user)
                if (person, code) in found:
                    self._incidents.change("reactions that differ in skin tone only became one", self._where, name)
                found[person, code] = person, find_name(code) or name, code
        return list(found.values())

    # Files

    def _file(self, file: Json, entry: Json, sent: int, files: list[ShelvedFile]) -> list[Inline]:
        slack_id = string(file.get("id"))
        name = string(file.get("title")) or string(file.get("name")) or "file"
        if file.get("mode") in GONE or file.get("file_access") in ("access_denied", "file_not_found"):
            self._incidents.lose("files that Slack did not have any more", f"{self._where} {slack_id}")
            return [Text(f"{name}: this file was deleted." if name != "file" else "A file was deleted.", italic=True)]
        if slack_id in self._files:
            shelved = self._shelved(slack_id, file, entry, sent)
            files.append(shelved)
            return [Link(url_of(shelved.path), name)]
        url = next((string(file[key]) for key in ("url_private", "permalink", "external_url") if file.get(key)), "")
        if not url:
            self._incidents.lose("files without an address", f"{self._where} {slack_id}", name)
            return [Text(name, italic=True)]
        self._incidents.lose(
            "files that are not in the zip: a link to Slack is kept", f"{self._where} {slack_id}", name
        )
        return [Link(without_secrets(url), name)]

    def _shelved(self, slack_id: str, file: Json, entry: Json, sent: int) -> ShelvedFile:
        owner = string(file.get("user")) or string(entry.get("user"))
        name = clean_name(string(file.get("name")) or self._files[slack_id])
        secret = hashlib.sha256(self._seed + slack_id.encode()).hexdigest()
        id = self._file_ids.setdefault(slack_id, len(self._file_ids) + 1)
        return self._shelf.add_file(
            ShelvedFile(
                id=id,
                key=slack_id,
                owner=self._people.person(owner) if owner else SPEAKER,
                path=file_path(secret, name),
                name=name,
                created=sent,
                entry=self._files[slack_id],
            )
        )


def remote_files(entry: Json) -> Iterator[RemoteFile]:
    """The files of an entry that Slack has, as far as it says where."""
    for file in [*objects(entry.get("files")), *objects([entry.get("file")])]:
        url = string(file.get("url_private_download")) or string(file.get("url_private"))
        size = file.get("size")
        if url and file.get("mode") not in GONE and not file.get("is_external"):
            yield RemoteFile(
                string(file.get("id")), url, size if isinstance(size, int) else 0, string(file.get("mimetype"))
            )
