"""What the channels of Discord become. Who may read one is not in an export: it is private, of those who wrote or reacted there,
unless the operator says that it is public."""

from dataclasses import dataclass
from datetime import datetime

from tertulia.archives.converting.escaping import escape_words
from tertulia.archives.converting.moments import Moments
from tertulia.archives.converting.names import MOST_CHANNEL, UniqueNames, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import MOST_DESCRIPTION, Room
from tertulia.archives.converting.values import Json, milliseconds, string
from tertulia.archives.form import kinds
from tertulia.messaging.sending.rules import MAX_RECIPIENTS

DISCORD_BEGAN = 1_420_070_400_000
DIRECT = ("DirectTextChat", "DirectGroupTextChat")
TOPICS = ("GuildPublicThread", "GuildNewsThread")
"""Threads that whoever reads their channel can read, posts of forums among them."""
CHANNELS = ("GuildTextChat", "GuildNews", "GuildVoiceChat", "GuildStageVoice", "GuildForum", "GuildMedia")
NUMBERS = dict(
    zip(
        (0, 1, 2, 3, 5, 10, 11, 12, 13, 15),
        (
            *("GuildTextChat", "DirectTextChat", "GuildVoiceChat", "DirectGroupTextChat", "GuildNews"),
            *("GuildNewsThread", "GuildPublicThread", "GuildPrivateThread", "GuildStageVoice", "GuildForum"),
        ),
        strict=True,
    )
)
"""What older exports say instead of these names."""
ALL = "*"


@dataclass
class Place:
    """Where the messages of a channel go. `key`: of a thread, whose topic is known when all messages are."""

    room: Room
    key: str = ""
    name: str = ""


def kind_of(said: Json) -> str:
    """What sort of channel it is."""
    kind = said.get("type")
    return NUMBERS.get(kind, str(kind)) if type(kind) is int else string(kind)


def milliseconds_of(id: str) -> int:
    """Ids of Discord begin with a time; 0 if it can be none."""
    return milliseconds((int(id) >> 22) + DISCORD_BEGAN) if id.isdecimal() and len(id) <= 20 else 0


class Places:
    """All of them, by the ids of channels."""

    def __init__(self, moments: Moments, incidents: Incidents, public: frozenset[str]) -> None:
        """`public`: names or ids of channels that everybody may read; a star stands for all."""
        self._moments = moments
        self._incidents = incidents
        self._public = public
        self._unused = set(public) - {ALL}
        self._names = UniqueNames(MOST_CHANNEL)
        self._folder_names = UniqueNames(MOST_CHANNEL)
        self._folders: dict[str, str] = {}
        self._by_people: dict[frozenset[int], Room] = {}
        self._by_id: dict[str, Place] = {}
        self._count = 0
        self.all: list[Room] = []
        self.topic_names: dict[tuple[int, int], str] = {}
        self.thread_ids: set[str] = set()

    def add(self, said: Json, people: set[int]) -> None:
        """A channel of which there is a file; several files may have parts of it. `people`: of a direct conversation."""
        id, kind, name = string(said.get("id")), kind_of(said), string(said.get("name")).strip()
        if id in self._by_id and kind in DIRECT:
            return
        if kind in DIRECT:
            self._by_id[id] = Place(self._direct(id, name, people))
        elif kind in TOPICS and string(said.get("categoryId")):
            parent = self._channel(string(said.get("categoryId")), string(said.get("category")))
            room = self._new(parent)
            room.people, room.is_private, room.is_unknown = parent.people, parent.is_private, True
            self.thread_ids.add(id)
            self._by_id.setdefault(id, Place(room, id, name or "Thread"))
        else:
            self._describe(self._channel(id, name), said)

    def find(self, id: str) -> Place | None:
        """Where messages of a channel go."""
        return self._by_id.get(id)

    def thread(self, place: Place) -> int:
        """The topic of a thread: it began with the message that has its id, if there is one."""
        if not place.key:
            return 0
        began = self._moments.thread(place.key, place.room.id, milliseconds_of(place.key) or DISCORD_BEGAN)
        self.topic_names.setdefault((place.room.id, began), place.name)
        return began

    def folders(self, created: datetime) -> list[kinds.Folder]:
        """Categories, as the archive has them."""
        return [
            kinds.Folder(id=place, name=name, position=place, created=created)
            for place, name in enumerate(self._folders.values(), 1)
        ]

    def unused(self) -> list[str]:
        """What the operator called public, and is not there."""
        return sorted(self._unused)

    def _channel(self, id: str, name: str) -> Room:
        if id in self._by_id:
            return self._by_id[id].room
        room = self._new()
        wanted = name or f"channel {id[:20]}"
        room.name, room.is_unknown = self._names.take(wanted, "channel"), True
        if room.name != wanted:
            self._incidents.change("names of channels that could not stay as they were", id, f"{wanted} -> {room.name}")
        room.is_private = not (self._public & {ALL, id, name, f"#{name}"})
        self._unused -= {id, name, f"#{name}"}
        room.created = milliseconds_of(id) // 1000
        self._by_id[id] = Place(room)
        return room

    def _describe(self, room: Room, said: Json) -> None:
        kind, category = kind_of(said), string(said.get("categoryId"))
        if kind == "GuildPrivateThread":
            self._incidents.change("private threads: a private channel of their own", string(said.get("id")), room.name)
            room.is_private = True
        elif kind not in CHANNELS:
            self._incidents.change("kinds of channels that are not known: private", string(said.get("id")), kind)
            room.is_private = True
        elif category:
            name = self._folders.get(category) or self._folder_names.take(string(said.get("category")), "Channels")
            self._folders[category] = name
            room.folder_id = list(self._folders).index(category) + 1
        whole = escape_words(plain(string(said.get("topic"))))
        if len(whole) > MOST_DESCRIPTION:
            self._incidents.change("descriptions of channels that were too long, and cut", room.name)
        room.description = shortened(whole, MOST_DESCRIPTION)

    def _direct(self, id: str, name: str, people: set[int]) -> Room:
        if not 2 <= len(people) <= MAX_RECIPIENTS:
            self._incidents.change("direct conversations of which only one wrote, or too many: a private channel", id)
            room = self._new()
            room.name, room.is_unknown, room.people = self._names.take(f"with {name}", "direct"), True, people
            return room
        same = self._by_people.get(frozenset(people))
        if same is not None:
            self._incidents.change("direct conversations of the same people became one", id)
        room = self._new(same)
        room.is_direct, room.people = True, people
        self._by_people.setdefault(frozenset(people), room)
        return room

    def _new(self, same: Room | None = None) -> Room:
        if same is None:
            self._count += 1
        room = Room(self._count if same is None else same.id, len(self.all) + 1, [])
        self.all.append(room)
        return room
