"""Convert what DiscordChatExporter wrote into an archive."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tertulia.archives.converting.accounts import SPEAKER, Outcome, Request, read_users, write_users
from tertulia.archives.converting.assembling import REALM_ID, Assembly, Told, World
from tertulia.archives.converting.composing import Composer, drop_doubles
from tertulia.archives.converting.discord.messages import Messages, remote_files
from tertulia.archives.converting.discord.people import People
from tertulia.archives.converting.discord.places import DIRECT, Place, Places, kind_of
from tertulia.archives.converting.discord.source import FETCHED, Files
from tertulia.archives.converting.emoji_names import EmojiNames
from tertulia.archives.converting.fetching import Fetching
from tertulia.archives.converting.known import outcome_of, table_of
from tertulia.archives.converting.moments import Moments
from tertulia.archives.converting.names import plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import began, records
from tertulia.archives.converting.roster import Roster
from tertulia.archives.converting.shelf import Shelf
from tertulia.archives.converting.values import Json, inner, objects, string
from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds

NO_GUILD = "0"
"""Of direct messages."""
_SHARED = re.compile(r"_Files/|-[0-9A-F]{5}\.json$")
"""What somebody shared, as the exporter calls it. It may look like an export, with whatever they like in it."""


async def convert(
    request: Request,
    paths: list[Path],
    public: frozenset[str],
    target: Path,
    folder: Path,
    incidents: Incidents,
    told: Told,
    fetching: Fetching | None = None,
) -> Outcome:
    """The archive, at `target`. `paths`: folders, zips and JSON files. `folder`: a temporary place.

    `public`: names or ids of channels that everybody may read. `fetching`: whoever brings the files that the export only names.
    """
    mapped = read_users(request.users) if request.users else {}
    files = Files(paths, incidents)
    shelf, moments = Shelf(folder), Moments(folder)
    try:
        conversion = _Conversion(files, shelf, moments, incidents, mapped, public, told)
        if fetching is not None:
            await conversion.fetch(fetching)
        conversion.read()
        return await conversion.write(request, target)
    finally:
        shelf.close()
        moments.close()
        files.close()


class _Conversion:
    def __init__(
        self,
        files: Files,
        shelf: Shelf,
        moments: Moments,
        incidents: Incidents,
        mapped: dict[str, dict[str, str]],
        public: frozenset[str],
        told: Told,
    ) -> None:
        self._files = files
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._guilds: Counter[tuple[str, str]] = Counter()
        self._heads = self._find()
        self._roster = Roster(incidents, mapped)
        self._people = People(self._roster, incidents)
        self._places = Places(moments, incidents, public)
        self._emoji = EmojiNames(incidents)
        self._composer = Composer(shelf, incidents, files.seed())
        self._messages = Messages(
            *(self._people, self._places, moments, self._composer, files, incidents, self._emoji),
        )

    # The source

    def _find(self) -> dict[str, Json]:
        """What each file says that it is."""
        found: dict[str, Json] = {}
        for name in self._files.names:
            if not name.lower().endswith(".json") or _SHARED.search(name):
                continue
            guild, channel = self._head(name)
            if channel is None:
                self._incidents.lose("JSON files that are no channel of Discord", name)
                continue
            self._guilds[string(guild.get("id")), plain(string(guild.get("name")))] += 1
            found[name] = channel
        if not found:
            raise ArchiveFailed("There is no JSON file of DiscordChatExporter in it.")
        return found

    def _head(self, name: str) -> tuple[Json, Json | None]:
        guild: Json = {}
        for key, value in self._files.records(name, is_counted=False):
            if key == "guild":
                guild = inner(value)
            elif key == "channel":
                channel = inner(value)
                return guild, channel if string(channel.get("id")) else None
            else:
                break
        return guild, None

    def _entries(self, name: str, *, is_counted: bool = True) -> Iterator[Json]:
        for key, value in self._files.records(name, is_counted=is_counted):
            if key == "messages" and isinstance(value, dict):
                yield value
            elif key == "messages" and is_counted:
                self._incidents.lose("records that cannot be read", name)

    async def fetch(self, fetching: Fetching) -> None:
        """The files of all messages, before anything else: so what is made of them is the same each time."""
        wanted = (
            file
            for name in self._heads
            for said in self._entries(name, is_counted=False)
            for file in remote_files(said)
        )
        await fetching.fetch(wanted, self._told)
        for key, problem in fetching.failed.items():
            self._incidents.change("files that could not be fetched", key, problem)
        self._files.fetched = fetching.found()

    def read(self) -> None:
        """Channels first, then messages: once for their times, once for what they say."""
        direct: dict[str, set[int]] = {}
        for name, channel in self._heads.items():
            if kind_of(channel) in DIRECT:
                direct.setdefault(string(channel["id"]), set()).update(self._talking(name))
        for channel in sorted(self._heads.values(), key=lambda one: "Thread" in kind_of(one)):
            self._places.add(channel, direct.get(string(channel["id"]), set()))
        for public in self._places.unused():
            raise ArchiveFailed(f"No channel in the export has the name or id {public!r}.")
        total, done = 2 * sum(self._files.size(name) for name in self._heads), 0
        for is_counted in (False, True):
            for name, place in self._placed():
                for said in self._entries(name, is_counted=is_counted):
                    if is_counted:
                        self._messages.take(said, place, name)
                    else:
                        self._messages.index(said, place, name)
                done += self._files.size(name)
                self._told("reading, bytes", done, total)
        drop_doubles(self._shelf, self._composer.tally, self._incidents)

    def _placed(self) -> Iterator[tuple[str, Place]]:
        for name, channel in self._heads.items():
            place = self._places.find(string(channel["id"]))
            if place is not None:
                yield name, place

    def _talking(self, name: str) -> Iterator[int]:
        for said in self._entries(name, is_counted=False):
            users = [user for one in objects(said.get("reactions")) for user in objects(one.get("users"))]
            for user in [inner(said.get("author")), *users]:
                person = self._people.person(user, name)
                if person is not None:
                    yield person

    # The archive

    async def write(self, request: Request, target: Path) -> Outcome:
        """All of it."""
        if request.users_template:
            write_users(request.users_template, table_of(self._roster.all))
        if request.owner:
            self._roster.choose_owner(request.owner)
        created = began(self._places.all, self._shelf)
        channels, directs, members = records(self._places.all, created)
        guild, called = max(self._guilds, key=lambda one: (one[0] != NO_GUILD, self._guilds[one]))
        name = plain(request.name) or called or plain(request.file.stem) or "Imported"
        world = World(
            source=f"discord:{guild}",
            made_of="Discord",
            organization=kinds.Organization(
                id=REALM_ID, subdomain=request.subdomain, name=shortened(name, 40), created=created
            ),
            profile_fields=[],
            people=self._roster.records(created),
            channels=channels,
            directs=directs,
            members=members,
            speaker=SPEAKER,
            groups=self._people.groups(),
            emoji=self._emoji.records(created),
            folders=self._places.folders(created),
            pictures=self._messages.pictures | dict(self._avatars()),
            topic_names=self._places.topic_names,
        )
        manifest = await Assembly(world, self._shelf, self._incidents, self._told).write(target, self._files.pieces)
        return outcome_of(manifest, request, self._roster.all, self._composer.tally, self._roster.merged)

    def _avatars(self) -> Iterator[tuple[tuple[str, int], str]]:
        for known in self._roster.all:
            said, beside = self._people.pictures.get(known.id, ("", ""))
            if known.key in self._files.fetched:
                yield ("avatar", known.id), FETCHED + known.key
            elif said and not said.startswith("http") and (entry := self._files.find(said, beside)):
                yield ("avatar", known.id), entry
