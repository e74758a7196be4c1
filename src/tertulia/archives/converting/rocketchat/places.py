"""What the rooms of Rocket.Chat become: channels, direct conversations, and topics.

A discussion is a room of its own with a parent. It becomes a topic there only if nobody could read it then who could not before,
and nobody loses it who could: otherwise it is a channel of its own.
"""

from dataclasses import dataclass

from tertulia.archives.converting.escaping import escape_words
from tertulia.archives.converting.moments import Moments
from tertulia.archives.converting.names import MOST_CHANNEL, UniqueNames, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rocketchat.people import People
from tertulia.archives.converting.rooms import MOST_DESCRIPTION, Room
from tertulia.archives.converting.values import OLDEST, Json, inner, milliseconds, string, strings
from tertulia.messaging.sending.rules import MAX_RECIPIENTS

ROOM = frozenset(
    (
        *("_id", "t", "name", "fname", "topic", "description", "announcement", "ts", "u", "uids", "usernames"),
        *("prid", "archived", "ro", "default", "teamMain"),
    )
)
SUBSCRIPTION = frozenset(("rid", "u", "ls"))
CUSTOMERS = ("l", "v")
"""Live chats and calls with people from outside."""


@dataclass
class Place:
    """Where the messages of a room go. `thread`: the topic, if all of them go to one."""

    room: Room
    thread: int = 0
    is_dropped: bool = False


class Places:
    """All of them, by the ids of rooms."""

    def __init__(self, people: People, moments: Moments, incidents: Incidents) -> None:
        self._people = people
        self._moments = moments
        self._incidents = incidents
        self._names = UniqueNames(MOST_CHANNEL)
        self._said: dict[str, Json] = {}
        self._members: dict[str, dict[int, int]] = {}
        self._by_people: dict[frozenset[int], Room] = {}
        self._by_id: dict[str, Place] = {}
        self._count = 0
        self.all: list[Room] = []
        self.topic_names: dict[tuple[int, int], str] = {}
        self.seen: dict[int, dict[int, int]] = {}
        """Microseconds, by conversation and person."""

    # What the dump says

    def add(self, said: Json) -> None:
        """A room; what it becomes is known when all are."""
        id = string(said.get("_id"))
        if not id or id in self._said:
            self._incidents.lose("rooms without an id, or in the dump twice", id, string(said.get("name")))
            return
        self._said[id] = said

    def join(self, room: str, person: int, last_seen: int = 0) -> None:
        """Somebody is in a room."""
        known = self._members.setdefault(room, {})
        known[person] = max(known.get(person, 0), last_seen)

    def subscribe(self, said: Json) -> None:
        """Somebody is in a room, and looked at it last then."""
        room, user = string(said.get("rid")), inner(said.get("u"))
        if not room or not (user.get("_id") or user.get("username")):
            self._incidents.lose("subscriptions of nobody or to nothing", room)
            return
        self.join(room, self._people.person(user), milliseconds(said.get("ls")))

    # What it becomes

    def settle(self) -> None:
        """All rooms, those with a parent last."""
        for id, said in self._said.items():
            if string(said.get("prid")) not in self._said:
                self._by_id[id] = self._place(id, said)
        for id, said in self._said.items():
            if id not in self._by_id:
                self._by_id[id] = self._discussion(id, said)
        for id, place in self._by_id.items():
            if not place.thread and not place.is_dropped:
                self._look_at(id, place.room)

    def of(self, id: str) -> Place:
        """Where messages of a room go. One that is not in the dump is private, and of those who wrote in it."""
        if id not in self._by_id:
            self._incidents.change("rooms that are not in the dump: a private channel of those who wrote there", id)
            room = self._new()
            room.name, room.is_unknown = self._names.take(f"room {id[:30]}", "unlisted"), True
            self._by_id[id] = Place(room)
        return self._by_id[id]

    def find(self, id: str) -> Place | None:
        """Of a room that is in the dump."""
        return self._by_id.get(id)

    def _place(self, id: str, said: Json) -> Place:
        kind = string(said.get("t"))
        if kind in CUSTOMERS:
            self._incidents.lose("live chats and calls with customers", id)
            return Place(Room(0, 0, []), is_dropped=True)
        return Place(self._direct(id, said) if kind == "d" else self._channel(id, said))

    def _direct(self, id: str, said: Json) -> Room:
        people = {self._people.person({"_id": one}) for one in strings(said.get("uids"))}
        if not people:
            handles = strings(said.get("usernames"))
            people = {self._people.person({"username": one}) for one in handles} or set(self._members.get(id, ()))
        if not people or len(people) > MAX_RECIPIENTS:
            self._incidents.change("direct conversations of nobody or of too many: a private channel", id)
            room = self._new()
            room.name, room.people, room.is_unknown = self._names.take("direct messages", "direct"), people, True
            return room
        same = self._by_people.get(frozenset(people))
        if same is not None:
            self._incidents.change("direct conversations of the same people became one", id)
        room = self._new(same)
        room.is_direct, room.people = True, people
        self._by_people.setdefault(frozenset(people), room)
        return room

    def _channel(self, id: str, said: Json) -> Room:
        wanted = string(said.get("fname")).strip() or string(said.get("name")).strip() or id
        room = self._new()
        room.name = self._names.take(wanted, id)
        if room.name != wanted:
            self._incidents.change("names of channels that could not stay as they were", id, f"{wanted} -> {room.name}")
        room.is_private = said.get("t") != "c"
        if room.is_private and said.get("t") != "p":
            self._incidents.change("kinds of rooms that are not known: private", id, string(said.get("t")))
        room.is_archived = said.get("archived") is True
        room.is_default = said.get("default") is True and not room.is_private
        room.description = self._description(id, said)
        room.people = set(self._members.get(id, ()))
        creator = inner(said.get("u"))
        room.creator = self._people.person(creator) if creator.get("_id") else None
        room.created = milliseconds(said.get("ts")) // 1000
        if said.get("ro") is True:
            self._incidents.change("channels in which only some could write: here all members can", id, room.name)
        if said.get("teamMain") is True:
            self._incidents.change("teams became their main channel", id, room.name)
        return room

    def _discussion(self, id: str, said: Json) -> Place:
        parent = self._by_id.get(string(said.get("prid")))
        mine = set(self._members.get(id, ()))
        if parent is None or parent.is_dropped or not _may_join(said, mine, parent.room):
            self._incidents.change("discussions that others could read than their channel: a channel of their own", id)
            return Place(self._channel(id, said))
        room = self._new(parent.room)
        room.is_direct, room.people, room.is_private = parent.room.is_direct, parent.room.people, parent.room.is_private
        if parent.room.is_direct:
            self._incidents.change("discussions in direct messages: all in order of time", id)
            return Place(room)
        thread = self._moments.thread(f"discussion/{id}", room.id, milliseconds(said.get("ts")) or OLDEST)
        name = string(said.get("fname")).strip() or string(said.get("name")).strip() or "Discussion"
        self.topic_names[room.id, thread] = name
        return Place(room, thread)

    def _look_at(self, id: str, room: Room) -> None:
        """Who has looked into a room has read what was there then. Of who never did nothing is known: all is read."""
        for person, seen in self._members.get(id, {}).items():
            if seen and person in room.people:
                known = self.seen.setdefault(room.id, {})
                known[person] = max(known.get(person, 0), seen * 1000 + 999)

    def _new(self, same: Room | None = None) -> Room:
        if same is None:
            self._count += 1
        room = Room(self._count if same is None else same.id, len(self.all) + 1, [])
        self.all.append(room)
        return room

    def _description(self, id: str, said: Json) -> str:
        texts: list[str] = []
        for key in ("description", "topic", "announcement"):
            words = plain(string(said.get(key)))
            if words and words not in texts:
                texts.append(words)
        whole = escape_words(" — ".join(texts))
        if len(whole) > MOST_DESCRIPTION:
            self._incidents.change("descriptions of channels that were too long, and cut", id)
        return shortened(whole, MOST_DESCRIPTION)


def _may_join(said: Json, people: set[int], parent: Room) -> bool:
    """Whether a discussion may be a topic of its parent. Rocket.Chat lets everybody in the parent read it."""
    if parent.is_unknown:
        return False
    if not parent.is_private and not parent.is_direct:
        return said.get("t") == "c"
    return people <= parent.people
