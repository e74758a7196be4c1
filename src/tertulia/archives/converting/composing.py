"""A message of a source onto the shelf: split if it is too long, with its reactions, files and thread."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from tertulia.archives.converting import markdown
from tertulia.archives.converting.assembling import file_path
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import Room
from tertulia.archives.converting.shelf import Shelf, Shelved, ShelvedFile
from tertulia.archives.converting.topics import EXCERPT
from tertulia.archives.converting.tree import Block
from tertulia.files.uploads.names import clean_name, url_of

Reaction = tuple[int, str, str] | tuple[int, str, str, str]
"""Person, name, code, and the kind of an emoji that is not Unicode's."""
_ADDRESS = re.compile(r"/user_uploads/\d+/[0-9a-f]{2}/[0-9a-f]{24}/")
"""The beginning of a file's address (`file_path`), up to its name."""


@dataclass
class Tally:
    """Of all entries that could be messages: each is imported or lost."""

    read: int = 0
    imported: int = 0


def addresses_of(files: Iterable[ShelvedFile]) -> dict[str, ShelvedFile]:
    """Files by the beginnings of their addresses."""
    return {url_of(file.path).rpartition("/")[0] + "/": file for file in files}


def linked_in(text: str, addresses: Mapping[str, ShelvedFile]) -> list[int]:
    """Which of these files a text links. The text is gone through once, however many files there are."""
    begun = dict.fromkeys(_ADDRESS.findall(text))
    files = [addresses[one] for one in begun if one in addresses]
    return [file.id for file in files if url_of(file.path) in text]


def drop_doubles(shelf: Shelf, tally: Tally, incidents: Incidents, what: str = "export") -> None:
    """Messages that are there twice count once, and as lost."""
    doubles = shelf.drop_doubles()
    tally.imported -= doubles
    if doubles:
        incidents.lost[f"messages that are in the {what} twice"] += doubles


@dataclass(frozen=True)
class Composed:
    """A message as it will be."""

    room: Room
    sent: int
    sender: int
    blocks: list[Block]
    where: str
    thread: int = 0
    reactions: Sequence[Reaction] = ()
    files: list[ShelvedFile] = field(default_factory=list)
    begins_thread: bool = False
    stars: Sequence[int] = ()
    """Of whom."""
    pinned: int = 0
    """When; a source that does not say it: when it was sent. 0: it is not."""


class Composer:
    """Counts what it takes."""

    def __init__(self, shelf: Shelf, incidents: Incidents, seed: bytes) -> None:
        """`seed`: nobody guesses addresses of files who does not have it."""
        self._shelf = shelf
        self._incidents = incidents
        self._seed = seed
        self._place = 0
        self._file_ids: dict[str, int] = {}
        self.tally = Tally()

    def put(self, message: Composed) -> None:
        """Onto the shelf; without a word it is lost, and counted."""
        texts = markdown.write(message.blocks)
        if not texts:
            self._incidents.lose("messages without a word", message.where)
            return
        self._place += 1
        if message.room.is_unknown:
            message.room.people.add(message.sender)
        if len(texts) > 1:
            self._incidents.change("messages that were too long, and became several", message.where, str(len(texts)))
        excerpt = markdown.words_of(message.blocks)[:EXCERPT] if message.begins_thread else ""
        addresses = addresses_of(message.files)
        for part, text in enumerate(texts):
            linked = linked_in(text, addresses)
            shelved = Shelved(
                conversation=message.room.id,
                origin=message.room.number,
                sent=message.sent,
                place=self._place,
                part=part,
                thread=message.thread,
                sender=message.sender,
                content=text,
                excerpt="" if part else excerpt,
                reactions="[]" if part else msgspec.json.encode(message.reactions).decode(),
                files=msgspec.json.encode(linked).decode(),
                pinned=0 if part else message.pinned,
            )
            people = [] if part else [message.sender, *(one[0] for one in message.reactions)]
            self._shelf.add(shelved, people)
        for person in message.stars:
            self._shelf.mark(self._place, person)
        self.tally.imported += 1

    def file(self, key: str, name: str, owner: int, sent: int, entry: str) -> ShelvedFile:
        """A file whose bytes are an entry of the source: once, however often it is shared."""
        name = clean_name(name)
        secret = hashlib.sha256(self._seed + key.encode(errors="replace")).hexdigest()
        id = self._file_ids.setdefault(key, len(self._file_ids) + 1)
        return self._shelf.add_file(ShelvedFile(id, key, owner, file_path(secret, name), name, sent, entry))
