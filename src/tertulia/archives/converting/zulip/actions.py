"""Convert an export of Zulip into an archive."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tertulia.archives.converting.accounts import Outcome, Request, read_users, write_users
from tertulia.archives.converting.assembling import Told
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.tars import TarSource
from tertulia.archives.converting.topics import EPOCH, time_of
from tertulia.archives.converting.zulip.assembling import POLICIES, Assembly, World
from tertulia.archives.converting.zulip.furniture import Furniture, created_of
from tertulia.archives.converting.zulip.messages import Messages
from tertulia.archives.converting.zulip.people import People
from tertulia.archives.converting.zulip.places import Places
from tertulia.archives.converting.zulip.shelf import Shelf
from tertulia.archives.converting.zulip.tables import Json, Tables, rows_of
from tertulia.archives.converting.zulip.values import id_of, long_path, microseconds, words
from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.form.container import is_file_path
from tertulia.archives.form.manifest import Manifest
from tertulia.files.uploads.names import clean_name

_MESSAGES = re.compile(r"messages-\d{1,12}\.json")
_COLOR = re.compile(r"#[0-9a-f]{6}")
GREY = "#c2c2c2"
_PICTURE = re.compile(r"(?:.*/)?(icon|logo|night_logo)(?:\.original)?")
ORIGINAL = ".original"


async def convert(request: Request, target: Path, folder: Path, incidents: Incidents, told: Told) -> Outcome:
    """The archive, at `target`. `folder`: a temporary place. ArchiveFailed if it is no export at all."""
    mapped = read_users(request.users) if request.users else {}
    shelf = Shelf(folder)
    try:
        with TarSource(request.file, "realm.json", folder, incidents) as source:
            conversion = _Conversion(source, shelf, incidents, mapped, told)
            conversion.read()
            return await conversion.write(request, target)
    finally:
        shelf.close()


class _Conversion:
    def __init__(
        self, source: TarSource, shelf: Shelf, incidents: Incidents, mapped: dict[str, dict[str, str]], told: Told
    ) -> None:
        self._source = source
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._tables = Tables(source, incidents)
        self._people = People(incidents, mapped)
        self._places = Places(self._people, shelf, incidents)
        self._names = [name for name in source.names if _MESSAGES.fullmatch(name)]
        self._pictures: dict[tuple[str, Any], str] = {}

    # The source

    def read(self) -> None:
        """Tables first, then messages, then who has read them."""
        for table, row in self._tables.read():
            if table == "subscription":
                self._subscribe(row)
            elif table == "usertopic":
                self._decide(row)
        if not self._tables["userprofile"] or not self._tables["realm"]:
            raise ArchiveFailed("The export has no people or no organization: realm.json is empty or cannot be read.")
        began = created_of(self._tables)
        self._created = time_of(began) if began else EPOCH
        self._people.read(self._tables, self._created)
        self._furniture = Furniture(self._tables, self._people, self._incidents, self._created)
        self._people.take_statuses(self._tables["userstatus"], self._furniture.reaction)
        self._places.read(self._tables, self._created)
        self._places.find_members()
        clients = self._tables["client"]
        self._messages = Messages(self._people, self._places, self._furniture, self._shelf, self._incidents, clients)
        self._read_messages()
        self._read_files()
        self._read_pictures()
        self._know_everybody()

    def _rows(self, name: str, *, is_counted: bool = True) -> Iterator[tuple[str, Json]]:
        if self._source.has(name):
            yield from rows_of(self._source, name, self._incidents, is_counted=is_counted)

    def _subscribe(self, row: Json) -> None:
        recipient, person = id_of(row.get("recipient")), id_of(row.get("user_profile"))
        if not recipient or not person:
            self._incidents.lose("subscriptions of nobody or to nothing", str(row.get("id"))[:20])
            return
        color = words(row.get("color")).lower()
        heard = {
            f"{what}_notifications": row.get(f"{what}_notifications")
            for what in ("desktop", "audible", "push", "email")
        }
        heard["wildcard_mentions_notify"] = row.get("wildcard_mentions_notify")
        choices = kinds.Choices(
            color=color if _COLOR.fullmatch(color) else GREY,
            is_muted=row.get("is_muted") is True,
            pin_to_top=row.get("pin_to_top") is True,
            **{key: value for key, value in heard.items() if isinstance(value, bool)},
        )
        active = row.get("active") is True
        self._shelf.add("subscription", recipient, person, active, msgspec.json.encode(choices).decode())

    def _decide(self, row: Json) -> None:
        person, stream, policy = id_of(row.get("user_profile")), id_of(row.get("stream")), row.get("visibility_policy")
        if person and stream and type(policy) is int and policy in POLICIES:
            at = microseconds(row.get("last_updated"))
            self._shelf.add("policy", person, stream, words(row.get("topic_name")), policy, at)

    def _read_messages(self) -> None:
        total, done = sum(self._source.size(name) for name in self._names), 0
        for name in self._names:
            for table, row in self._rows(name):
                if table == "message":
                    self._messages.take(row)
            done += self._source.size(name)
            self._told("reading, bytes", done, total)
        if doubles := self._messages.taken - self._shelf.count("message"):
            self._incidents.lost["messages that are in the export twice"] += doubles
        self._told("sorting", 0, 1)
        self._shelf.number()
        done = 0
        for name in self._names:
            self._messages.take_flags(self._flags_of(name))
            done += self._source.size(name)
            self._told("reading what was read, bytes", done, total)

        for _ in self._flags_of("realm.json"):
            pass

    def _flags_of(self, name: str) -> Iterator[Json]:
        """Rows of who received what. Reactions and votes are in the same files, or in that of the tables."""
        for table, row in self._rows(name, is_counted=False):
            if table == "reaction":
                self._messages.react(row)
            elif table == "submessage":
                self._messages.submessage(row)
            elif table == "usermessage":
                yield row

    def _read_files(self) -> None:
        entries = {}
        for _, row in self._rows("uploads/records.json"):
            path = words(row.get("s3_path")) or words(row.get("path"))
            entries[path] = f"uploads/{words(row.get('path'))}"
        organization = str(self._organization_id())
        for table, row in self._rows("attachment.json"):
            if table == "attachment":
                self._take_file(row, entries, organization)

    def _take_file(self, row: Json, entries: dict[str, str], organization: str) -> None:
        id, owner, path = id_of(row.get("id")), self._people.person(row.get("owner")), words(row.get("path_id"))
        entry = entries.get(path, f"uploads/{path}")
        path = long_path(path)
        if not id or not owner or not is_file_path(path) or path.partition("/")[0] != organization:
            self._incidents.lose("files without an id, an owner or a good address", path[:200])
            return
        name = clean_name(words(row.get("file_name")) or path)
        created = microseconds(row.get("create_time")) or 1
        type_ = words(row.get("content_type"))[:100] or "application/octet-stream"
        self._shelf.add("file", id, owner, path, name, type_, created, entry)
        messages = row.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if id_of(message):
                self._shelf.add("file_message", message, id)

    def _read_pictures(self) -> None:
        by_file = {file: id for id, file in self._furniture.emoji_files.items() if file}
        for folder in ("avatars", "emoji", "realm_icons"):
            for _, row in self._rows(f"{folder}/records.json"):
                path = words(row.get("path"))
                whose: tuple[str, Any] | None = None
                if folder == "avatars":
                    whose = ("avatar", id_of(_number(row.get("user_profile_id"))))
                elif folder == "emoji":
                    called = words(row.get("file_name")) or path.rpartition("/")[2].removesuffix(ORIGINAL)
                    whose = ("emoji", by_file.get(called, 0))
                elif found := _PICTURE.fullmatch(path):
                    whose = ("organization", found[1])
                entry = f"{folder}/{path}"
                if whose is None or not whose[1] or not self._source.has(entry):
                    continue
                # There is one as it was given, and one that was made smaller.
                if whose not in self._pictures or entry.endswith(ORIGINAL):
                    self._pictures[whose] = entry

    def _know_everybody(self) -> None:
        """Who is only in lists has an account as well: what refers to them stays."""
        for table in ("subscription", "policy"):
            for (person,) in self._shelf.ask(f"select distinct person from {table} order by 1"):  # noqa: S608
                self._people.person(person)

    def _organization_id(self) -> int:
        return id_of(next(iter(self._tables["realm"]), {}).get("id")) or 1

    # The archive

    async def write(self, request: Request, target: Path) -> Outcome:
        """All of it."""
        humans = sorted(self._people.humans(), key=lambda one: one.id)
        if request.users_template:
            rows = ((str(one.id), one.name, one.email, one.proposed or one.role) for one in humans)
            write_users(request.users_template, rows)
        if request.owner:
            self._people.choose_owner(request.owner)
        organization = self._furniture.organization(request.subdomain, request.name, request.file.stem or "Imported")
        world = World(organization, self._people, self._places, self._furniture, self._pictures, self._created)
        assembly = Assembly(world, self._source, self._shelf, self._incidents, self._told)
        manifest = await assembly.write(target, f"zulip:{organization.id}:{self._created.timestamp():.6f}")
        return self._outcome(manifest, request)

    def _outcome(self, manifest: Manifest, request: Request) -> Outcome:
        humans = self._people.humans()
        proposed: dict[str, list[str]] = {}
        for known in humans:
            if known.proposed is not None and known.role > known.proposed:
                proposed.setdefault(known.proposed.name.lower(), []).append(known.email or str(known.id))
        return Outcome(
            manifest=manifest,
            read=self._messages.read,
            imported=manifest.counts.get("messages", 0),
            with_address=sum(known.email is not None for known in humans),
            without_address=sum(known.email is None for known in humans),
            merged=0,
            proposed=proposed,
            owner=request.owner,
        )


def _number(value: object) -> object:
    """Where files came from an object store, ids are texts."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 12 else value
