"""What teams and channels become: channels, and conversations of people who talk directly."""

from tertulia.archives.converting.escaping import escape_words
from tertulia.archives.converting.mattermost.people import Member, People
from tertulia.archives.converting.names import MOST_CHANNEL, UniqueNames, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import MOST_DESCRIPTION, Room
from tertulia.archives.converting.values import Json, objects, string, strings
from tertulia.archives.form import kinds
from tertulia.conversations.channels.model import PALETTE
from tertulia.kernel.text import name_key_of
from tertulia.messaging.sending.rules import MAX_RECIPIENTS

TOWN_SQUARE = "town-square"
"""The channel that everybody of a team is in."""


class Rooms:
    """All of them."""

    def __init__(self, people: People, incidents: Incidents, teams: dict[str, str]) -> None:
        """`teams`: what those are called that are taken, by their names."""
        self._people = people
        self._incidents = incidents
        self._teams = teams
        self._names = UniqueNames(MOST_CHANNEL)
        self._called: set[str] = set()
        self._by_name: dict[tuple[str, str], Room] = {}
        self._by_people: dict[frozenset[int], Room] = {}
        self._members: dict[str, set[int]] = {team: set() for team in teams}
        self.all: list[Room] = []
        self.choices: dict[tuple[int, int], kinds.Choices] = {}
        self.seen: dict[int, dict[int, int]] = {}
        """By conversation and person: until when everything was read."""

    # Channels

    def add_channel(self, said: Json, where: str) -> None:
        """A channel of a team that is taken; what is not said to be public is private."""
        team, name = string(said.get("team")), string(said.get("name"))
        if team not in self._teams:
            self._incidents.lose("channels of other teams", where, f"{team} {name}")
            return
        if not name or (team, name) in self._by_name:
            self._incidents.lose("channels without a name, or in the export twice", where, f"{team} {name}")
            return
        wanted = string(said.get("display_name")).strip() or name
        room = self._new(self._name(team, wanted, name))
        self._by_name[team, name] = room
        if room.name != wanted:
            self._incidents.change(
                "names of channels that could not stay as they were", f"{team} {name}", f"{wanted} -> {room.name}"
            )
        room.is_private = said.get("type") != "O"
        room.is_archived = bool(said.get("deleted_at"))
        room.is_default = name == TOWN_SQUARE and not room.is_private and len(self._teams) == 1
        room.description = self._description(said, where)

    def _name(self, team: str, wanted: str, name: str) -> str:
        """With that of its team, if channels of several come together and have the same."""
        key = name_key_of(plain(wanted))
        if key in self._called:
            wanted = f"{wanted} ({self._teams[team]})"
        if len(self._teams) > 1:
            self._called.add(key)
        return self._names.take(wanted, name)

    def _description(self, said: Json, where: str) -> str:
        """What it is for, and what its head said last."""
        texts = dict.fromkeys(filter(None, (plain(string(said.get(key))) for key in ("purpose", "header"))))
        whole = escape_words(" — ".join(texts))
        if len(whole) > MOST_DESCRIPTION:
            self._incidents.change("descriptions of channels that were too long, and cut", where)
        return shortened(whole, MOST_DESCRIPTION)

    def find(self, team: str, name: str) -> Room | None:
        """A channel that is known."""
        return self._by_name.get((team, name))

    def find_by_name(self, name: str) -> Room | None:
        """Where a text names no team: the one that has this name, if there is one only."""
        found = [room for team in self._teams if (room := self._by_name.get((team, name)))]
        return found[0] if len(found) == 1 else None

    def of_post(self, team: str, name: str) -> Room | None:
        """Where a post is. A channel that is in no list was archived: it is private, and of those who wrote in it."""
        room = self._by_name.get((team, name))
        if room is None and team in self._teams and name:
            self._incidents.change(
                "channels that are in no list: private ones of those who wrote there", f"{team} {name}"
            )
            room = self._by_name[team, name] = self._new(self._name(team, name, "unlisted"))
            room.is_unknown = True
        return room

    # Who is in them

    def join(self, known: Member, user: Json) -> None:
        """Somebody's teams and channels, with what they chose for each and what they have read."""
        for team in objects(user.get("teams")):
            name = string(team.get("name"))
            if name not in self._teams:
                continue
            self._members[name].add(known.id)
            for said in objects(team.get("channels")):
                room = self._by_name.get((name, string(said.get("name"))))
                if room is None:
                    channel = f"{name} {string(said.get('name'))}"
                    self._incidents.lose("memberships in channels that are not in the export", known.key, channel)
                    continue
                room.people.add(known.id)
                self._choose(room, known.id, said)
                self._see(room, known.id, said)

    def _choose(self, room: Room, person: int, said: Json) -> None:
        props = said.get("notify_props")
        is_muted = isinstance(props, dict) and props.get("mark_unread") == "mention"
        if is_muted or said.get("favorite") is True:
            self.choices[room.id, person] = kinds.Choices(
                color=PALETTE[room.id % len(PALETTE)], is_muted=is_muted, pin_to_top=said.get("favorite") is True
            )

    def _see(self, room: Room, person: int, said: Json) -> None:
        """An export that does not say it: all is read."""
        seen = said.get("last_viewed_at")
        if type(seen) is int and 0 <= seen < 2**42:
            until = seen * 1000 + 999 if seen else 0
            of_room = self.seen.setdefault(room.id, {})
            of_room[person] = max(until, of_room.get(person, 0))

    def narrow(self) -> None:
        """Of several teams together: a public channel of one stays public only if everybody is in its team."""
        everybody = set[int]().union(*self._members.values())
        for (team, name), room in self._by_name.items():
            if not room.is_private and self._members.get(team) != everybody:
                room.is_private, room.is_default = True, False
                self._incidents.change(
                    "public channels that others than their team could read here: private", f"{team} {name}"
                )

    # People who talk directly

    def add_direct(self, said: Json, where: str) -> None:
        """A conversation of these people, with or without posts."""
        participants = objects(said.get("participants"))
        usernames = [string(one.get("username")) for one in participants] or strings(said.get("members"))
        room = self.direct(usernames)
        if room is None:
            self._incidents.lose("direct conversations of nobody, or of other teams", where)
            return
        if plain(string(said.get("header"))):
            self._incidents.lose("headers of direct conversations", where)
        for one in participants:
            self._see(room, self._people.person(string(one.get("username"))), one)

    def direct(self, usernames: list[str]) -> Room | None:
        """The conversation of these people; of too many a private channel. None if it is of other teams."""
        if not any(self._people.is_inside(username) for username in usernames):
            return None
        people = frozenset(self._people.person(username) for username in usernames if username)
        room = self._by_people.get(people)
        if room is None:
            is_direct = len(people) <= MAX_RECIPIENTS
            room = self._by_people[people] = self._new("" if is_direct else self._names.take("Direct messages", ""))
            room.is_direct, room.people = is_direct, set(people)
            if not is_direct:
                self._incidents.change("direct conversations of too many: a private channel", room.name)
        return room

    def _new(self, name: str) -> Room:
        room = Room(len(self.all) + 1, len(self.all) + 1, name=name)
        self.all.append(room)
        return room
