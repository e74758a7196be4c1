"""Where people talk: channels with their ids, topics, and conversations of people who talk directly."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tertulia.archives.converting.names import MOST_CHANNEL, MOST_TOPIC, UniqueNames, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.zulip.furniture import permissions
from tertulia.archives.converting.zulip.people import People
from tertulia.archives.converting.zulip.shelf import Shelf
from tertulia.archives.converting.zulip.tables import Json, Tables
from tertulia.archives.converting.zulip.values import id_of, moment, words
from tertulia.archives.form import kinds
from tertulia.kernel.bounds import LONGEST_RETENTION
from tertulia.kernel.text import name_key_of
from tertulia.organization.groups.settings import CHANNEL_SETTINGS

PERSONAL, CHANNEL, GROUP = 1, 2, 3
"""Types of recipients."""
MOST_DESCRIPTION = 1024
POLICIES = ("inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only")
DIRECT_TOPIC = "\x07"


@dataclass
class Channel:
    """A channel there, which has its id here."""

    id: int
    name: str
    row: Json
    is_private: bool
    is_protected: bool
    """Who comes later does not read what was said before."""


class Places:
    """All of them."""

    def __init__(self, people: People, shelf: Shelf, incidents: Incidents) -> None:
        self._people = people
        self._shelf = shelf
        self._incidents = incidents
        self._recipients: dict[int, tuple[int, int]] = {}
        self._members: dict[int, list[int]] = {}
        self._directs: dict[tuple[int, ...], int] = {}
        self._first_direct = 1
        self._topics: dict[tuple[int, str], int] = {}
        self.topic_names: dict[int, tuple[int, str]] = {}
        """Of topics by id: the channel, and what they are called."""
        self.channels: dict[int, Channel] = {}
        self.folders: list[kinds.Folder] = []
        self._defaults: set[int] = set()

    def read(self, tables: Tables, created: datetime) -> None:
        """What the tables say."""
        names = UniqueNames(MOST_CHANNEL)
        for row in sorted(tables["stream"], key=lambda one: id_of(one.get("id"))):
            self._add_channel(row, names)
        self._first_direct = max(self.channels, default=0) + 1
        for row in tables["recipient"]:
            id, kind, of = id_of(row.get("id")), row.get("type"), id_of(row.get("type_id"))
            if id and of and kind in (PERSONAL, CHANNEL, GROUP):
                self._recipients.setdefault(id, (kind, of))
        self._defaults = {id_of(row.get("stream")) for row in tables["defaultstream"]}
        self._read_folders(tables["channelfolder"], created)

    def _add_channel(self, row: Json, names: UniqueNames) -> None:
        id, wanted = id_of(row.get("id")), words(row.get("name"))
        if not id or id in self.channels:
            self._incidents.lose("channels without an id, or in the export twice", wanted[:100])
            return
        name = names.take(wanted, f"channel {id}")
        if name != wanted:
            self._incidents.change("names of channels that could not stay as they were", str(id), f"{wanted} -> {name}")
        # What is not said to be public is private.
        is_private = row.get("invite_only") is not False
        is_protected = is_private and row.get("history_public_to_subscribers") is not True
        self.channels[id] = Channel(id, name, row, is_private, is_protected)

    def _read_folders(self, rows: list[Json], created: datetime) -> None:
        names, seen = UniqueNames(MOST_CHANNEL), set[int]()
        for row in rows:
            id = id_of(row.get("id"))
            if not id or id in seen:
                continue
            seen.add(id)
            order, creator = row.get("order"), id_of(row.get("creator"))
            self.folders.append(
                kinds.Folder(
                    id=id,
                    name=names.take(words(row.get("name")), f"folder {id}"),
                    description=shortened(words(row.get("description")), MOST_DESCRIPTION),
                    position=order if type(order) is int and abs(order) < 2**31 else id % 2**31,
                    creator_id=creator if creator in self._people.all else None,
                    created=moment(row.get("date_created"), created),
                    is_archived=row.get("is_archived") is True,
                )
            )

    # Where a message is

    def find_members(self) -> None:
        """Of those who talk directly, when all subscriptions are on the shelf."""
        for recipient, person in self._shelf.ask("select recipient, person from subscription order by 1, 2"):
            if self._recipients.get(recipient, (0, 0))[0] == GROUP:
                self._members.setdefault(recipient, []).append(person)

    def channel_of(self, recipient: int) -> int:
        """0 if it is none."""
        kind, of = self._recipients.get(recipient, (0, 0))
        return of if kind == CHANNEL and of in self.channels else 0

    def conversation(self, recipient: object, sender: int) -> int:
        """Where somebody said something; 0 if nobody knows."""
        id = id_of(recipient)
        kind, of = self._recipients.get(id, (0, 0))
        if kind == CHANNEL:
            return of if of in self.channels else 0
        if kind == PERSONAL:
            return self._direct({sender, self._people.person(of)})
        if kind == GROUP:
            # Where nobody is said to be in it, nobody else gets to read it.
            return self._direct({self._people.person(one) for one in self._members.get(id, [sender])} | {sender})
        return 0

    def _direct(self, people: set[int]) -> int:
        key = tuple(sorted(people))
        return self._directs.setdefault(key, self._first_direct + len(self._directs))

    def topic(self, channel: int, said: str) -> int:
        """The topic of a message; they are the same but for case."""
        name = self.topic_name(said)
        id = self._topics.setdefault((channel, name_key_of(name)), len(self._topics) + 1)
        self.topic_names[id] = channel, name  # as it was written last
        return id

    def topic_name(self, said: str) -> str:
        """A topic as it may be called here."""
        name = plain(words(said))
        if len(name) > MOST_TOPIC:
            self._incidents.change("topics that were too long, and cut", "", name)
        return shortened(name, MOST_TOPIC)

    def find_topic(self, channel: int, said: str) -> int:
        """0 if nothing was said in it."""
        return self._topics.get((channel, name_key_of(shortened(plain(words(said)), MOST_TOPIC))), 0)

    # In the archive

    def records(self, created: datetime, last: dict[int, int], groups: dict[int, str | None]) -> Iterator[kinds.Record]:
        """Channels. `last`: the last number of each conversation; `groups`: those of the archive."""
        folders = {one.id for one in self.folders}
        for channel in self.channels.values():
            row = channel.row
            creator, folder, days = (
                id_of(row.get("creator")),
                id_of(row.get("folder")),
                row.get("message_retention_days"),
            )
            is_kept = type(days) is int and days != 0 and -1 <= days <= LONGEST_RETENTION
            policy = row.get("topics_policy")
            yield kinds.Channel(
                id=channel.id,
                name=channel.name,
                description=shortened(words(row.get("description")), MOST_DESCRIPTION),
                is_private=channel.is_private,
                is_web_public=row.get("is_web_public") is True and not channel.is_private,
                history_public_to_subscribers=not channel.is_protected,
                is_archived=row.get("deactivated") is True,
                is_default=channel.id in self._defaults and not channel.is_private,
                creator_id=creator if creator in self._people.all else None,
                created=moment(row.get("date_created"), created),
                message_retention_days=days if is_kept else None,
                topics_policy=policy if policy in POLICIES else "inherit",
                folder_id=folder if folder in folders else None,
                last_number=last.get(channel.id, 0),
                permissions=permissions(row, CHANNEL_SETTINGS, groups),
            )

    def directs(self) -> dict[int, tuple[int, ...]]:
        """Those who talk, by the id of the conversation."""
        return {id: people for people, id in self._directs.items()}
