"""What each entry of a file becomes: a message, or a line of the report."""

from collections.abc import Iterator

from tertulia.archives.converting.composing import Composed, Composer, Reaction
from tertulia.archives.converting.discord.content import answered, cards_of
from tertulia.archives.converting.discord.people import People
from tertulia.archives.converting.discord.places import Place, Places, milliseconds_of
from tertulia.archives.converting.discord.source import FETCHED, Files
from tertulia.archives.converting.discord.text import parse, unflattened
from tertulia.archives.converting.emoji_names import EmojiNames
from tertulia.archives.converting.fetching import RemoteFile, without_secrets
from tertulia.archives.converting.moments import Moments
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.shelf import ShelvedFile
from tertulia.archives.converting.tree import Block, Inline, Link, Paragraph, Quote, Text
from tertulia.archives.converting.values import Json, inner, objects, string
from tertulia.archives.form import kinds
from tertulia.content.emoji import find_name, is_code
from tertulia.content.emoji.table import trim_code
from tertulia.files.uploads.names import url_of
from tertulia.organization.custom_emoji.model import CUSTOM

DROPPED = {
    **dict.fromkeys(("RecipientAdd", "RecipientRemove", "GuildMemberJoin"), "joins and leaves"),
    **dict.fromkeys(("ChannelNameChange", "ChannelIconChange"), "changes of channels"),
    "ChannelPinnedMessage": "notices of pins",
    "Call": "notices of calls",
    "ThreadCreated": "notices of threads",
    "21": "second copies of messages that began a thread",
}
USUAL = ("Default", "Reply", "20", "23")
"""The last two: answers of programs that somebody called."""
_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))


class Messages:
    """Turns entries into messages on the shelf."""

    def __init__(
        self,
        people: People,
        places: Places,
        moments: Moments,
        composer: Composer,
        files: Files,
        incidents: Incidents,
        emoji: EmojiNames,
    ) -> None:
        self._people, self._places, self._moments = people, places, moments
        self._composer, self._files, self._incidents = composer, files, incidents
        self._names_of_emoji = emoji
        self._emoji: dict[str, kinds.Emoji | None] = {}
        self._place: Place
        self._file, self._where = "", ""
        self.pictures: dict[tuple[str, int], str] = {}

    # What texts refer to (Names)

    def person(self, key: str) -> int:
        """Whoever is mentioned."""
        return self._people.mentioned(key)

    def group(self, key: str) -> str | None:
        """A role, if anybody in the export has it."""
        return self._people.group(key)

    def channel(self, key: str) -> tuple[int, str] | str:
        """A public one, or this one: names of others are not told."""
        place = self._places.find(key)
        if place is None or place.room.is_direct:
            return "#unknown"
        is_told = not place.room.is_private or place.room.id == self._place.room.id
        if not is_told:
            return "#private-channel"
        return f"#{place.name}" if place.key else (place.room.id, place.room.name)

    def message(self, key: str) -> tuple[int, int] | None:
        """Where a link to a message leads."""
        return self._moments.find(key)

    def custom_emoji(self, key: str) -> str | None:
        """Our name of it."""
        found = self._emoji.get(key)
        return None if found is None else found.name

    # Entries

    def index(self, said: Json, place: Place, file: str) -> None:
        """When it was sent, who is in it, and which emoji: texts may refer to them before they come."""
        author = self._people.person(inner(said.get("author")), file)
        for one in objects(said.get("mentions")):
            self._people.person(one, file)
        reactions = objects(said.get("reactions"))
        for one in [*objects(said.get("inlineEmojis")), *(inner(reaction.get("emoji")) for reaction in reactions)]:
            self._know_emoji(one, file)
        id = string(said.get("id"))
        if sent := milliseconds_of(id):
            self._moments.add(id, place.room.id, sent, author or 0)

    def _know_emoji(self, said: Json, file: str) -> None:
        key, name = string(said.get("id")), string(said.get("name"))
        if not key.isdecimal() or key == "0" or key in self._emoji:
            return
        picture = self._entry(key, string(said.get("imageUrl")), file)
        if picture is None:
            self._incidents.lose(
                "custom emoji whose pictures are not in the export: their names stay as text", key, name
            )
            self._emoji[key] = None
            return
        taken = name in self._names_of_emoji.by_name
        made = self._emoji[key] = self._names_of_emoji.add(f"{name}_{key}" if taken else name)
        if made is not None:
            self.pictures["emoji", made.id] = picture

    def take(self, said: Json, place: Place, file: str) -> None:
        """One entry."""
        self._composer.tally.read += 1
        self._place, self._file = place, file
        id, kind = string(said.get("id")), string(said.get("type"))
        self._where = f"{file} {id}"
        found = self._moments.find(id)
        if found is None:
            self._incidents.lose("messages without an id of Discord", self._where)
        elif found[0] != place.room.id:
            self._incidents.lose("messages whose id another one has", self._where)
        elif kind in DROPPED:
            self._incidents.lose(DROPPED[kind], self._where)
        else:
            self._import(said, found[1], id, kind)

    def _import(self, said: Json, sent: int, id: str, kind: str) -> None:
        if kind not in USUAL:
            self._incidents.change("kinds of messages that are not known: taken as ordinary ones", self._where, kind)
        author = self._people.person(inner(said.get("author")), self._file)
        if author is None:
            author = self._people.mentioned("0")
        files: list[ShelvedFile] = []
        blocks = self._said(said, author, sent, files)
        if not blocks and kind in USUAL:
            self._incidents.change(
                "messages without any content: the exporter may have had no right to read them", self._where
            )
        blocks = [*self._before(said, kind), *blocks] if blocks else []
        if said.get("timestampEdited"):
            self._incidents.changed["messages that were edited: the mark and the old text do not come"] += 1
        reactions = self._reactions(said)
        if self._place.room.is_unknown:
            self._place.room.people.update(one[0] for one in reactions)
        self._composer.put(
            Composed(
                room=self._place.room,
                sent=sent,
                sender=author,
                blocks=blocks,
                where=self._where,
                thread=self._places.thread(self._place),
                reactions=reactions,
                files=files,
                begins_thread=id in self._places.thread_ids,
                pinned=sent if said.get("isPinned") is True else 0,
            )
        )

    def _before(self, said: Json, kind: str) -> Iterator[Block]:
        """What a message answers."""
        reference, called = inner(said.get("reference")), inner(said.get("interaction"))
        answers = string(reference.get("messageId"))
        is_forwarded = reference.get("type") == "Forward" or bool(said.get("forwardedMessage"))
        if answers and not is_forwarded and kind in USUAL:  # older exports call no message a reply
            place = self._moments.find(answers)
            if place is None:
                self._incidents.change("answers to messages that are not in the export", self._where, answers)
            else:
                yield answered(self._moments.sender(answers), place)
        if name := string(called.get("name")).strip():
            user = inner(called.get("user"))
            who = string(user.get("nickname")) or string(user.get("name"))
            yield Paragraph([Text(f"{who} used /{name}".strip(), italic=True)])

    def _reactions(self, said: Json) -> list[Reaction]:
        found: dict[tuple[int, str], Reaction] = {}
        for one in objects(said.get("reactions")):
            emoji, users = inner(one.get("emoji")), objects(one.get("users"))
            name, count = string(emoji.get("name")), one.get("count")
            code = trim_code("".join(sign for sign in name[:20] if sign not in _TONES))
            custom = self._emoji.get(string(emoji.get("id")))
            if custom is None and not is_code(code):
                self._incidents.lose("reactions with emoji that are not known here", self._where, name)
                continue
            if isinstance(count, int) and count > len(users):
                self._incidents.lose("reactions of which the export does not say who", self._where, name)
            for user in users:
                person = self._people.person(user, self._file)
                if person is None:
                    continue
                if custom is not None:
                    found[person, custom.name] = person, custom.name, str(custom.id), CUSTOM
                else:
                    found[person, code] = person, find_name(code) or name, code
        return list(found.values())

    # What it says

    def _said(self, said: Json, author: int, sent: int, files: list[ShelvedFile]) -> list[Block]:
        blocks = parse(self._text(said), self)
        forwarded = inner(said.get("forwardedMessage"))
        if forwarded:
            inside = self._said(forwarded | {"forwardedMessage": None}, author, sent, files)
            blocks.append(Quote([Paragraph([Text("Forwarded:", italic=True)]), *inside]))
        blocks += cards_of(said, self)
        for file in objects(said.get("attachments")):
            blocks.append(Paragraph(self._attachment(file, author, sent, files)))
        for sticker in objects(said.get("stickers")):
            blocks.append(Paragraph(self._sticker(sticker, author, sent, files)))
        return blocks

    def _text(self, said: Json) -> str:
        """With what the exporter has replaced by names, as far as the entry tells."""
        text = string(said.get("content"))
        replaced: dict[str, str] = {}
        if "<@" not in text:
            for one in objects(said.get("mentions")):
                for name in (string(one.get("name")), string(one.get("nickname"))):
                    if name.strip() and string(one.get("id")).isdecimal() and f"@{name}" in text:
                        replaced[f"@{name}"] = f"<@{one['id']}>"
        for one in objects(said.get("inlineEmojis")):
            name, key = string(one.get("name")), string(one.get("id"))
            if name and key in self._emoji and f"<:{name}:" not in text and f"<a:{name}:" not in text:
                replaced[f":{name}:"] = f"<:{name}:{key}>"
        if not replaced:
            return text
        self._incidents.changed[
            "texts in which the exporter had written names for mentions: they are mentions again"
        ] += 1
        return unflattened(text, replaced)

    # Files

    def _entry(self, key: str, said: str, beside: str) -> str | None:
        """Where the bytes are: in the export, or fetched."""
        if key in self._files.fetched:
            return FETCHED + key
        return None if said.startswith(("http://", "https://")) or not said else self._files.find(said, beside)

    def _attachment(self, file: Json, author: int, sent: int, files: list[ShelvedFile]) -> list[Inline]:
        key, url = string(file.get("id")), string(file.get("url"))
        name = string(file.get("fileName")).strip() or "file"
        entry = self._entry(key, url, self._file)
        if entry is not None:
            shelved = self._composer.file(key or entry, name, author, sent, entry)
            files.append(shelved)
            return [Link(url_of(shelved.path), name)]
        if url.startswith("https://"):
            self._incidents.lose("files that are not in the export: a link to Discord is kept", self._where, name)
            return [Link(without_secrets(url), name)]
        self._incidents.lose("files that are not in the export: their names stay", self._where, name)
        return [Text(name, italic=True)]

    def _sticker(self, said: Json, author: int, sent: int, files: list[ShelvedFile]) -> list[Inline]:
        key, name, url = string(said.get("id")), string(said.get("name")).strip(), string(said.get("sourceUrl"))
        entry = self._entry(key, url, self._file)
        if entry is not None and not entry.endswith(".json"):  # those that move are drawings in JSON
            shelved = self._composer.file(key or entry, entry.rpartition("/")[2], author, sent, entry)
            files.append(shelved)
            return [Link(url_of(shelved.path), name or "sticker")]
        self._incidents.lose("stickers: their names stay", self._where, name)
        return [Text(f"Sticker: {name}".strip(), italic=True)]


def remote_files(said: Json) -> Iterator[RemoteFile]:
    """What Discord has of an entry, as far as it says where."""
    for message in (said, inner(said.get("forwardedMessage"))):
        for file in objects(message.get("attachments")):
            size, name = file.get("fileSizeBytes"), string(file.get("fileName")).lower()
            kind = "text/html" if name.endswith((".html", ".htm")) else ""
            yield from _remote(file, "url", size if isinstance(size, int) else 0, kind)
    for one in objects(said.get("inlineEmojis")):
        yield from _remote(one, "imageUrl")
    for reaction in objects(said.get("reactions")):
        yield from _remote(inner(reaction.get("emoji")), "imageUrl")
    yield from _remote(inner(said.get("author")), "avatarUrl")


def _remote(said: Json, field: str, size: int = 0, kind: str = "") -> Iterator[RemoteFile]:
    key, url = string(said.get("id")), string(said.get(field))
    if key.isdecimal() and key != "0" and url.startswith(("https://", "http://")):
        yield RemoteFile(key, url, size, kind)
