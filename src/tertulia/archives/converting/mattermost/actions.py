"""Convert a bulk export of Mattermost into an archive."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tertulia.archives.converting.accounts import SPEAKER, Outcome, Request, read_users, write_users
from tertulia.archives.converting.assembling import MOST_FILE, REALM_ID, Assembly, Told, World
from tertulia.archives.converting.entries import ELSEWHERE
from tertulia.archives.converting.known import outcome_of, profile_fields, table_of
from tertulia.archives.converting.mattermost.conversations import Rooms
from tertulia.archives.converting.mattermost.emoji import ExportEmoji
from tertulia.archives.converting.mattermost.people import FIELDS, People
from tertulia.archives.converting.mattermost.posts import Posts, References
from tertulia.archives.converting.mattermost.reading import Export
from tertulia.archives.converting.names import plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import OLDEST, records
from tertulia.archives.converting.shelf import Shelf
from tertulia.archives.converting.values import Json, string
from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds

VERSION = 1
MOST_TEAMS_TOLD = 20
MOST_NAME, MOST_ABOUT = 40, 1000
AT_ONCE = 1024 * 1024
_KNOWN = re.compile(r"(?:data|exported_emoji)/.+")


async def convert(
    request: Request, target: Path, folder: Path, incidents: Incidents, told: Told, teams: Sequence[str] = ()
) -> Outcome:
    """The archive, at `target`. `folder`: a temporary place. ArchiveFailed if it is no export at all.

    `teams`: whose channels and people come; all, if the export has one team.
    """
    mapped = {id.lower(): row for id, row in (read_users(request.users) if request.users else {}).items()}
    shelf = Shelf(folder)
    try:
        with Export(request.file, incidents) as export:
            conversion = _Conversion(export, shelf, incidents, told)
            conversion.choose(teams)
            conversion.read(mapped)
            return await conversion.write(request, target)
    finally:
        shelf.close()


class _Conversion:
    def __init__(self, export: Export, shelf: Shelf, incidents: Incidents, told: Told) -> None:
        self._export = export
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._entries = set(export.entries)
        self._emoji = ExportEmoji(incidents)
        self._all_teams: dict[str, Json] = {}
        self._teams: dict[str, Json] = {}
        self._people: People
        self._rooms: Rooms
        self._posts: Posts

    # The source

    def choose(self, wanted: Sequence[str]) -> None:
        """The teams that come. Of several the operator says which: who could read what depends on it."""
        for where, kind, said in self._export.lines("version", "team", "emoji", "role", "scheme"):
            if kind == "team" and (name := string(said.get("name"))):
                self._all_teams.setdefault(name, said)
            elif kind == "emoji":
                self._emoji.add(said)
            elif kind == "version" and said.get("version", VERSION) != VERSION:
                self._incidents.change("another version of the format: read as this one", where)
            elif kind in ("role", "scheme"):
                self._incidents.lose("roles and schemes of permissions", where, string(said.get("name")))
        if not self._all_teams:
            raise ArchiveFailed("The export has no team: it is empty, cannot be read, or is not of Mattermost.")
        names = ", ".join(sorted(self._all_teams)[:MOST_TEAMS_TOLD])
        if unknown := [name for name in wanted if name not in self._all_teams]:
            raise ArchiveFailed(f"The export has no team {unknown[0]!r}. Its teams are: {names}.")
        if not wanted and len(self._all_teams) > 1:
            raise ArchiveFailed(f"The export has several teams: {names}. Say which come: --team NAME, once for each.")
        chosen = frozenset(wanted)
        self._teams = {name: said for name, said in self._all_teams.items() if not wanted or name in chosen}
        for name in self._all_teams.keys() - self._teams.keys():
            self._incidents.lose("teams that were not asked for", name)

    def read(self, mapped: dict[str, dict[str, str]]) -> None:
        """Everything else: what is referred to first."""
        shown = {name: plain(string(said.get("display_name"))) or name for name, said in self._teams.items()}
        self._people = People(self._incidents, mapped, self._teams)
        self._rooms = Rooms(self._people, self._incidents, shown)
        for name in sorted(self._entries):
            if not _KNOWN.fullmatch(name):
                self._incidents.lose("entries that are not known", name)
        for where, _, said in self._export.lines("channel"):
            self._rooms.add_channel(said, where)
        is_whole = len(self._teams) == len(self._all_teams)
        for _, kind, said in self._export.lines("user", "bot"):
            if kind == "bot":
                self._people.add_bot(said)
            elif known := self._people.add(said, is_whole=is_whole):
                self._rooms.join(known, said)
        if len(self._teams) > 1:
            self._rooms.narrow()
        for where, _, said in self._export.lines("direct_channel"):
            self._rooms.add_direct(said, where)
        self._read_posts()

    def _read_posts(self) -> None:
        known = References(self._people, self._rooms, self._emoji, self._find, self._export.seed())
        self._posts = Posts(known, self._shelf, self._incidents)
        size, told = self._export.size, 0

        def done(read: int) -> None:
            nonlocal told
            if read - told >= AT_ONCE:
                told = read
                self._told("reading, bytes", read, size)

        for where, kind, said in self._export.lines("post", "direct_post", done=done):
            if kind == "post":
                self._posts.take(said, where)
            else:
                self._posts.take_direct(said, where)
        self._shelf.settle()

    def _find(self, path: str) -> str | None:
        """The entry of a file that a line names. Paths are compared, never opened."""
        path = path.removeprefix("./")
        if not path or ELSEWHERE.search(path):
            return None
        return next((name for name in (f"data/{path}", path) if name in self._entries), None)

    # The archive

    async def write(self, request: Request, target: Path) -> Outcome:
        """All of it."""
        if request.users_template:
            write_users(request.users_template, table_of(self._people.all))
        if request.owner:
            self._people.choose_owner(request.owner)
        span = self._shelf.span()
        created = datetime.fromtimestamp(span[0] // 1_000_000 if span else OLDEST, UTC)
        channels, directs, members = records(self._rooms.all, created)
        world = World(
            # There is nothing in an export that says which server it is of.
            source=f"mattermost:{self._export.seed().hex()[:16]}",
            made_of="Mattermost",
            organization=self._organization(request, created),
            profile_fields=profile_fields(self._people.all, FIELDS),
            people=self._people.records(created),
            channels=channels,
            directs=directs,
            members=members,
            speaker=SPEAKER,
            emoji=self._emoji.names.records(created),
            pictures=dict(self._pictures()),
            choices=self._rooms.choices,
            seen=self._rooms.seen,
        )
        assembly = Assembly(world, self._shelf, self._incidents, self._told)
        manifest = await assembly.write(target, lambda entry: self._export.pieces(entry, MOST_FILE))
        return outcome_of(manifest, request, self._people.all, self._posts.tally, self._people.merged)

    def _pictures(self) -> Iterator[tuple[tuple[str, int], str]]:
        named = [("avatar", known.id, known.picture) for known in self._people.all]
        named += [("emoji", id, path) for id, path in self._emoji.pictures.items()]
        for kind, id, path in named:
            entry = self._find(path)
            if entry is not None:
                yield (kind, id), entry
            elif path and kind == "avatar":
                self._incidents.lose("pictures of people that are not in the export", path)

    def _organization(self, request: Request, created: datetime) -> kinds.Organization:
        [team, *others] = self._teams.values()
        of_team = "" if others else string(team.get("display_name"))
        name = plain(request.name) or plain(of_team) or plain(request.file.stem) or "Imported"
        about = "" if others else plain(string(team.get("description")))
        return kinds.Organization(
            id=REALM_ID,
            subdomain=request.subdomain,
            name=shortened(name, MOST_NAME),
            description=shortened(about, MOST_ABOUT),
            created=created,
        )
