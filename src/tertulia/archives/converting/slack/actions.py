"""Convert an export of Slack into an archive."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from tertulia.archives.converting.accounts import SPEAKER, Outcome, Request, read_users, write_users
from tertulia.archives.converting.assembling import MOST_FILE, REALM_ID, Assembly, Told, World
from tertulia.archives.converting.composing import drop_doubles
from tertulia.archives.converting.entries import Unreadable
from tertulia.archives.converting.fetching import Fetching, RemoteFile
from tertulia.archives.converting.known import outcome_of, profile_fields, table_of
from tertulia.archives.converting.names import plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rooms import began, records
from tertulia.archives.converting.shelf import Shelf
from tertulia.archives.converting.slack.conversations import Rooms
from tertulia.archives.converting.slack.messages import Messages, remote_files
from tertulia.archives.converting.slack.people import FIELDS, People
from tertulia.archives.converting.zips import Source
from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds

LISTS = {"channels.json": "public", "groups.json": "private", "mpims.json": "direct", "dms.json": "direct"}
FETCHED = "//fetched/"
"""Before the id of a file that was fetched. No entry of a zip has a name like it."""
_DAY = re.compile(r"([^/]+)/\d{4}-\d{2}-\d{2}\.json")
_UPLOAD = re.compile(r"__uploads/([A-Z0-9]{2,20})/[^/]+|(?:[^/]+/)?attachments/([A-Z0-9]{2,20})[-_][^/]+")
_KNOWN = re.compile(
    r"(?:users|org_users|channels|groups|mpims|dms|integration_logs|canvases|content_flags|lists|file_conversations"
    r"|huddle_transcripts)\.json|[^/]+/canvas_in_the_conversation\.json"
)


async def convert(
    request: Request,
    target: Path,
    folder: Path,
    incidents: Incidents,
    told: Told,
    fetching: Fetching | None = None,
) -> Outcome:
    """The archive, at `target`. `folder`: a temporary place. ArchiveFailed if it is no export at all.

    `fetching`: whoever brings the files that the export only names.
    """
    mapped = read_users(request.users) if request.users else {}
    shelf = Shelf(folder)
    try:
        with Source(request.file, "channels.json", incidents) as source:
            conversion = _Conversion(source, shelf, incidents, mapped, told)
            if fetching is not None:
                await conversion.fetch(fetching)
            conversion.read()
            return await conversion.write(request, target)
    finally:
        shelf.close()


class _Conversion:
    def __init__(
        self, source: Source, shelf: Shelf, incidents: Incidents, mapped: dict[str, dict[str, str]], told: Told
    ) -> None:
        self._source = source
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._people = People(incidents, mapped)
        self._rooms = Rooms(self._people, incidents)
        self._teams: dict[str, int] = {}
        self._messages: Messages
        self._fetched: dict[str, Path] = {}

    # The source

    async def fetch(self, fetching: Fetching) -> None:
        """The files of all messages, before anything else: so what is made of them is the same each time."""
        inside = {found[1] or found[2] for name in self._source.names if (found := _UPLOAD.fullmatch(name))}
        await fetching.fetch((file for file in self._remote_files() if file.key not in inside), self._told)
        for key, problem in fetching.failed.items():
            self._incidents.change("files that could not be fetched", key, problem)
        self._fetched = fetching.found()

    def _remote_files(self) -> Iterator[RemoteFile]:
        for name in self._source.names:
            if _DAY.fullmatch(name):
                for entry in self._source.records(name, is_counted=False):
                    yield from remote_files(entry)

    def read(self) -> None:
        """Everything in it: lists first, then days."""
        days: list[tuple[str, str]] = []
        files: dict[str, str] = {}
        for name in self._source.names:
            if found := _UPLOAD.fullmatch(name):
                files.setdefault(found[1] or found[2], name)
            elif found := _DAY.fullmatch(name):
                days.append((found[1], name))
            elif not _KNOWN.fullmatch(name):
                self._incidents.lose("entries that are not known", name)
        files = {key: f"{FETCHED}{key}" for key in self._fetched} | files
        self._read_lists()
        seed = self._source.seed()
        self._messages = Messages(self._people, self._rooms, self._shelf, self._incidents, files, seed)
        self._read_days(days)

    def _read_lists(self) -> None:
        for name in ("users.json", "org_users.json"):
            for user in self._list(name):
                self._people.add(user)
                team = user.get("team_id")
                if isinstance(team, str):
                    self._teams[team] = self._teams.get(team, 0) + 1
        for name, kind in LISTS.items():
            for room in self._list(name):
                if kind == "direct":
                    self._rooms.add_direct(room)
                else:
                    self._rooms.add_channel(room, is_private=kind == "private")
        if not self._rooms.all:
            raise ArchiveFailed("The export has no conversations: channels.json is empty or cannot be read.")

    def _list(self, name: str) -> Iterator[dict[str, Any]]:
        if name in self._source.names:
            yield from self._source.records(name)

    def _read_days(self, days: list[tuple[str, str]]) -> None:
        """Within a folder by date: names are dates."""
        total, done = sum(self._source.size(name) for _, name in days), 0
        for folder, name in days:
            room = self._rooms.of_folder(folder)
            if room is None:
                self._incidents.lose("folders whose names are none", repr(folder))
                continue
            for entry in self._source.records(name):
                self._messages.take(entry, room, name)
            done += self._source.size(name)
            self._told("reading, bytes", done, total)
        drop_doubles(self._shelf, self._messages.tally, self._incidents)
        self._rooms.count_pins_left()

    # The archive

    async def write(self, request: Request, target: Path) -> Outcome:
        """All of it."""
        if request.users_template:
            write_users(request.users_template, table_of(self._people.all))
        if request.owner:
            self._people.choose_owner(request.owner)
        created = began(self._rooms.all, self._shelf)
        channels, directs, members = records(self._rooms.all, created)
        team = max(self._teams, key=lambda one: (self._teams[one], one), default="")
        world = World(
            source=f"slack:{team or self._source.seed().hex()[:16]}",
            made_of="Slack",
            organization=self._organization(request, created),
            profile_fields=profile_fields(self._people.all, FIELDS),
            people=self._people.records(created),
            channels=channels,
            directs=directs,
            members=members,
            speaker=SPEAKER,
        )
        assembly = Assembly(world, self._shelf, self._incidents, self._told)
        manifest = await assembly.write(target, self._pieces)
        return outcome_of(manifest, request, self._people.all, self._messages.tally, self._people.merged)

    def _pieces(self, entry: str) -> Iterator[bytes]:
        if not entry.startswith(FETCHED):
            yield from self._source.pieces(entry, MOST_FILE)
            return
        try:
            yield self._fetched[entry.removeprefix(FETCHED)].read_bytes()
        except OSError as problem:
            raise Unreadable(problem.strerror or "it cannot be read") from problem

    def _organization(self, request: Request, created: datetime) -> kinds.Organization:
        name = plain(request.name) or request.file.stem or "Imported"
        return kinds.Organization(
            id=REALM_ID, subdomain=request.subdomain, name=shortened(plain(name) or "Imported", 40), created=created
        )
