"""Who is who on Discord: whoever wrote, reacted or was mentioned. Roles are groups here."""

from tertulia.archives.converting.names import UniqueNames, person_name
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.roster import Roster, Said
from tertulia.archives.converting.values import Json, objects, string
from tertulia.archives.form import kinds

MOST_GROUP = 100
MOST_GROUPS = 10_000


class People:
    """Everybody, by id, and the groups they are in."""

    def __init__(self, roster: Roster, incidents: Incidents) -> None:
        self._roster = roster
        self._incidents = incidents
        self._shown: dict[str, str] = {}
        self._group_names = UniqueNames(MOST_GROUP)
        self._groups: dict[str, str] = {}
        self._members: dict[str, set[int]] = {}
        self.pictures: dict[int, tuple[str, str]] = {}
        """Address of somebody's picture, and the file that says so."""

    def person(self, said: Json, where: str) -> int | None:
        """Whoever an entry names. A program has another name in each message, if it likes: then it is several."""
        key, name = string(said.get("id")), string(said.get("nickname")).strip() or string(said.get("name")).strip()
        if not key:
            return None
        is_bot = said.get("isBot") is True
        if is_bot and self._shown.setdefault(key, name) != name:
            return self._roster.bot(name)
        known = self._roster.find(key)
        if known is None:
            known = self._roster.add(Said(key, name or key, is_bot=is_bot))
        for role in objects(said.get("roles")):
            self._join(role, known)
        if picture := string(said.get("avatarUrl")):
            self.pictures.setdefault(known, (picture, where))
        return known

    def mentioned(self, key: str) -> int:
        """By id. Who is nowhere in the export left, or was erased."""
        return self._roster.stranger(key, "")

    def group(self, key: str) -> str | None:
        """What a role is called here."""
        return self._groups.get(key)

    def _join(self, role: Json, person: int) -> None:
        key, name = string(role.get("id")), string(role.get("name"))
        if key and key not in self._groups and len(self._groups) < MOST_GROUPS:
            made = self._group_names.take(person_name(name, f"role {key[:30]}").replace("role:", "role "), "role")
            if made != name:
                self._incidents.change("names of roles that could not stay as they were", key, f"{name} -> {made}")
            self._groups[key], self._members[key] = made, set()
        if key in self._members:
            self._members[key].add(person)

    def groups(self) -> list[kinds.Group]:
        """As the archive has them."""
        return [
            kinds.Group(id=place, name=name, members=sorted(self._members[key]))
            for place, (key, name) in enumerate(self._groups.items(), 1)
        ]
