"""Convert a dump of Rocket.Chat into an archive."""

from pathlib import Path

from tertulia.archives.converting.accounts import SPEAKER, Outcome, Request, read_users, write_users
from tertulia.archives.converting.assembling import REALM_ID, Assembly, Told, World
from tertulia.archives.converting.composing import Composer, drop_doubles
from tertulia.archives.converting.emoji_names import EmojiNames
from tertulia.archives.converting.known import outcome_of, table_of
from tertulia.archives.converting.moments import Moments
from tertulia.archives.converting.names import plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rocketchat import messages, people, places
from tertulia.archives.converting.rocketchat.dump import Dump
from tertulia.archives.converting.rooms import began, records
from tertulia.archives.converting.roster import Roster
from tertulia.archives.converting.shelf import Shelf
from tertulia.archives.converting.values import string, strings
from tertulia.archives.form import kinds

AVATAR = frozenset(("_id", "userId"))
EMOJI = frozenset(("_id", "name", "aliases", "extension"))


async def convert(
    request: Request, target: Path, folder: Path, incidents: Incidents, told: Told, beside: Path | None = None
) -> Outcome:
    """The archive, at `target`. `folder`: a temporary place. ArchiveFailed if it is no dump at all.

    `beside`: a folder with files that Rocket.Chat kept outside of its database.
    """
    mapped = read_users(request.users) if request.users else {}
    dump = Dump(request.file, folder, incidents, beside)
    shelf, moments = Shelf(folder), Moments(folder)
    try:
        conversion = _Conversion(dump, shelf, moments, incidents, mapped, told)
        conversion.read()
        return await conversion.write(request, target)
    finally:
        shelf.close()
        moments.close()
        dump.close()


class _Conversion:
    def __init__(
        self,
        dump: Dump,
        shelf: Shelf,
        moments: Moments,
        incidents: Incidents,
        mapped: dict[str, dict[str, str]],
        told: Told,
    ) -> None:
        self._dump = dump
        self._shelf = shelf
        self._incidents = incidents
        self._told = told
        self._seed = dump.seed()
        self._roster = Roster(incidents, mapped)
        self._people = people.People(self._roster, incidents)
        self._places = places.Places(self._people, moments, incidents)
        self._composer = Composer(shelf, incidents, self._seed)
        self._emoji = EmojiNames(incidents)
        self._pictures: dict[tuple[str, int], str] = {}
        self._messages = messages.Messages(
            *(self._people, self._places, moments, self._composer, shelf, dump, incidents, self._emoji.by_name)
        )

    def read(self) -> None:
        """People and rooms first, then messages: once for their times, once for what they say."""
        for user in self._dump.documents("users", people.WANTED):
            person = self._people.add(user)
            for room in strings(user.get("__rooms")) if person else []:
                self._places.join(room, person or 0)
        for room_said in self._dump.documents("rocketchat_room", places.ROOM):
            self._places.add(room_said)
        for subscription in self._dump.documents("rocketchat_subscription", places.SUBSCRIPTION):
            self._places.subscribe(subscription)
        self._read_pictures()
        self._places.settle()
        self._told("reading, bytes", 0, self._dump.size("rocketchat_message"))
        for said in self._dump.documents("rocketchat_message", messages.INDEXED, is_counted=False):
            self._messages.index(said)
        for place, said in enumerate(self._dump.documents("rocketchat_message", messages.WANTED), 1):
            self._messages.take(said)
            if not place % 1000:
                self._told("messages", place, place)
        drop_doubles(self._shelf, self._composer.tally, self._incidents, "dump")

    def _read_pictures(self) -> None:
        for avatar in self._dump.documents("rocketchat_avatars", AVATAR):
            person, id = self._people.find(string(avatar.get("userId"))), string(avatar.get("_id"))
            if person is not None and self._dump.has("rocketchat_avatars", id):
                self._pictures.setdefault(("avatar", person), f"rocketchat_avatars/{id}")
        files = {}
        for file in self._dump.documents("custom_emoji.files", frozenset(("_id", "filename"))):
            files[string(file.get("filename")) or string(file.get("_id"))] = string(file.get("_id"))
        for said in self._dump.documents("rocketchat_custom_emoji", EMOJI):
            name = string(said.get("name"))
            made = self._emoji.add(name, strings(said.get("aliases")))
            file_name = f"{name}.{string(said.get('extension'))}"
            id = files.get(file_name, file_name)
            if made is not None and self._dump.has("custom_emoji", id):
                self._pictures["emoji", made.id] = f"custom_emoji/{id}"

    async def write(self, request: Request, target: Path) -> Outcome:
        """All of it."""
        if request.users_template:
            write_users(request.users_template, table_of(self._roster.all))
        if request.owner:
            self._roster.choose_owner(request.owner)
        created = began(self._places.all, self._shelf)
        channels, directs, members = records(self._places.all, created)
        name = plain(request.name) or plain(request.file.stem) or "Imported"
        world = World(
            source=f"rocketchat:{self._seed.hex()[:16]}",
            made_of="Rocket.Chat",
            organization=kinds.Organization(
                id=REALM_ID, subdomain=request.subdomain, name=shortened(name, 40), created=created
            ),
            profile_fields=[],
            people=self._roster.records(created),
            channels=channels,
            directs=directs,
            members=members,
            speaker=SPEAKER,
            emoji=self._emoji.records(created),
            pictures=self._pictures,
            topic_names=self._places.topic_names,
            seen=self._places.seen,
        )
        manifest = await Assembly(world, self._shelf, self._incidents, self._told).write(target, self._dump.pieces)
        return outcome_of(manifest, request, self._roster.all, self._composer.tally, self._roster.merged)
