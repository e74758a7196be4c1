"""What the rooms of a workspace become: channels, and conversations of people who talk directly."""

import re
from typing import Any

from tertulia.archives.converting.escaping import escape_words
from tertulia.archives.converting.names import MOST_CHANNEL, UniqueNames, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import MOST_DESCRIPTION, NEWEST, OLDEST, Room
from tertulia.archives.converting.slack.people import People
from tertulia.archives.converting.slack.text import decoded
from tertulia.archives.converting.values import objects, string
from tertulia.messaging.sending.rules import MAX_RECIPIENTS

_TIME = re.compile(r"(\d{9,11})(?:\.(\d{1,6}))?")
_FOLDER = re.compile(r"[^/\x00-\x1f]{1,255}")


class Rooms:
    """All of them."""

    def __init__(self, people: People, incidents: Incidents) -> None:
        self._people = people
        self._incidents = incidents
        self._names = UniqueNames(MOST_CHANNEL)
        self._by_slack_id: dict[str, Room] = {}
        self._by_people: dict[frozenset[int], Room] = {}
        self._by_folder: dict[str, Room] = {}
        self._count = 0
        self.all: list[Room] = []
        """One for each room there; those that became one conversation have the same id."""

    def add_channel(self, said: dict[str, Any], *, is_private: bool) -> None:
        """A channel; what is not said to be public is private."""
        slack_id, name = said.get("id"), said.get("name")
        if not isinstance(slack_id, str) or slack_id in self._by_slack_id:
            self._incidents.lose("channels without an id, or in the export twice", str(name))
            return
        wanted = name if isinstance(name, str) and name.strip() else slack_id
        made = self._names.take(wanted, slack_id)
        if made != wanted:
            self._incidents.change(
                "names of channels that could not stay as they were", slack_id, f"{wanted} -> {made}"
            )
        is_private = is_private or bool(said.get("is_private"))
        room = self._new(slack_id, [wanted, slack_id])
        room.name, room.is_private = made, is_private
        room.is_archived, room.is_default = (
            bool(said.get("is_archived")),
            bool(said.get("is_general")) and not is_private,
        )
        room.description = self._description(said, slack_id)
        room.people = self._members(said)
        creator = said.get("creator")
        room.creator = self._people.person(creator) if isinstance(creator, str) and creator else None
        room.created = seconds_of(said.get("created"))
        self._take_pins(said, room)

    def add_direct(self, said: dict[str, Any]) -> None:
        """People who talk directly. Rooms of the same people are one conversation."""
        slack_id, name = said.get("id"), said.get("name")
        if not isinstance(slack_id, str) or slack_id in self._by_slack_id:
            self._incidents.lose("direct conversations without an id, or in the export twice", str(slack_id))
            return
        people = self._members(said)
        folders = [slack_id, *([name] if isinstance(name, str) and name else [])]
        if not people or len(people) > MAX_RECIPIENTS:
            self._incidents.change("direct conversations of nobody or of too many: a private channel", slack_id)
            self._unlisted(slack_id, folders).people = people
            return
        same = self._by_people.get(frozenset(people))
        room = self._new(slack_id, folders, same)
        room.is_direct, room.people = True, people
        self._take_pins(said, room)
        if same is not None:
            self._incidents.change("direct conversations of the same people became one", slack_id)
        self._by_people.setdefault(frozenset(people), room)

    def of_folder(self, folder: str) -> Room | None:
        """The room whose messages are there. One that is in no list is private, and of those who wrote in it."""
        if not _FOLDER.fullmatch(folder):
            return None
        room = self._by_folder.get(folder)
        if room is None:
            self._incidents.change("folders that are in no list: a private channel of those who wrote there", folder)
            room = self._unlisted(f"/{folder}", [folder])
        return room

    def find(self, slack_id: str) -> Room | None:
        """By its id there."""
        return self._by_slack_id.get(slack_id)

    def _unlisted(self, slack_id: str, folders: list[str]) -> Room:
        room = self._new(slack_id, folders)
        room.is_unknown = True
        room.name = self._names.take(folders[-1], "unlisted")
        return room

    def _new(self, slack_id: str, folders: list[str], same: Room | None = None) -> Room:
        if same is None:
            self._count += 1
        room = Room(self._count if same is None else same.id, len(self.all) + 1, folders)
        self.all.append(room)
        self._by_slack_id[slack_id] = room
        for folder in folders:
            self._by_folder.setdefault(folder, room)
        return room

    def _members(self, said: dict[str, Any]) -> set[int]:
        members = said.get("members")
        ids = [one for one in members if isinstance(one, str) and one] if isinstance(members, list) else []
        return {self._people.person(one) for one in dict.fromkeys(ids)}

    def _take_pins(self, said: dict[str, Any], room: Room) -> None:
        """The message of a pin is named by its time, which is its id there."""
        for pin in objects(said.get("pins")):
            if sent := microseconds(pin.get("id")):
                room.pins[sent] = seconds_of(pin.get("created")) * 1_000_000 or sent
            else:
                self._incidents.lose("pins of files", room.folders[0], string(pin.get("id")))

    def count_pins_left(self) -> None:
        """When all messages are taken: those whose message did not come."""
        for room in self.all:
            for _ in room.pins:
                self._incidents.lose("pins of messages that are not in the export", room.folders[0])

    def _description(self, said: dict[str, Any], slack_id: str) -> str:
        """What it is for, and what it was about last."""
        texts = []
        for key in ("purpose", "topic"):
            value = said.get(key)
            text = value.get("value") if isinstance(value, dict) else None
            if isinstance(text, str) and (words := plain(decoded(text))) and words not in texts:
                texts.append(words)
        whole = escape_words(" — ".join(texts))
        if len(whole) > MOST_DESCRIPTION:
            self._incidents.change("descriptions of channels that were too long, and cut", slack_id)
        return shortened(whole, MOST_DESCRIPTION)


def seconds_of(value: object) -> int:
    """A time in whole seconds, which may be a text; 0 if it can be none."""
    try:
        found = int(float(value)) if isinstance(value, (int, float, str)) else 0
    except (ValueError, OverflowError):
        return 0
    return found if OLDEST < found < NEWEST else 0


def microseconds(stamp: object) -> int:
    """Slack's `seconds.micro`, exactly; 0 if it is none."""
    found = _TIME.fullmatch(stamp) if isinstance(stamp, str) else None
    if found is None or not OLDEST < int(found[1]) < NEWEST:
        return 0
    return int(found[1]) * 1_000_000 + int((found[2] or "").ljust(6, "0"))
