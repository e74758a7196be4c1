"""Who is who: people and bots, by the names that Mattermost has for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from tertulia.archives.converting.accounts import SPEAKER, decided, speaker
from tertulia.archives.converting.emoji import code_of, name_of
from tertulia.archives.converting.known import (
    MOST_NAMES_OF_BOTS,
    Known,
    address_of,
    make_owner,
    profile_of,
    record_of,
)
from tertulia.archives.converting.names import person_name, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.values import Json, objects, string
from tertulia.archives.form import kinds
from tertulia.kernel.auth import Role

MOST_VALUE = 50
MOST_STATUS = 60
FIELDS = {"position": "Position", "nickname": "Nickname"}


@dataclass
class Member(Known):
    """Somebody with an account there. `id`: 0 as long as nothing refers to somebody of another team."""

    owner: str = ""
    position: str = ""
    nickname: str = ""
    picture: str = ""
    """The path of it, as the export says."""


class People:
    """Everybody."""

    def __init__(self, incidents: Incidents, mapped: dict[str, dict[str, str]], teams: Iterable[str]) -> None:
        """`teams`: those that are taken."""
        self._incidents = incidents
        self._mapped = mapped
        self._teams = frozenset(teams)
        self._by_username: dict[str, Member] = {}
        self._by_address: dict[str, Member] = {}
        self._inside: set[str] = set()
        self._names_of_bots = 0
        self.all: list[Member] = []
        self.merged = 0

    # Those who have an account there

    def add(self, user: Json, *, is_whole: bool) -> Member | None:
        """`is_whole`: all teams of the export are taken, so who is in none is of no other one, either. None: they come only if
        something refers to them."""
        username = string(user.get("username")).lower()
        if not username or username in self._by_username:
            self._incidents.lose("people without a name, or in the export twice", username)
            return None
        teams = {string(team.get("name")): string(team.get("roles")) for team in objects(user.get("teams"))}
        taken = [roles for team, roles in teams.items() if team in self._teams]
        is_inside = bool(taken) or (is_whole and not teams)
        email = address_of(username, string(user.get("email")), self._mapped, self._incidents)
        known = self._by_address.get(email.lower()) if email else None
        if known is not None:
            self._incidents.change("people with the same address became one", username, f"{email}: {known.key}")
            self.merged += 1
            known.is_active |= is_inside and not user.get("delete_at")
            self._by_username[username] = known
            if not is_inside:
                return None
            self._inside.add(username)
            return self._wanted(known)
        known = self._new(username, self._name(user, username), is_wanted=is_inside)
        known.email = email
        if email:
            self._by_address[email.lower()] = known
        known.is_active = is_inside and not user.get("delete_at")
        self._describe(known, user)
        known.role, known.proposed = self._role(known, user, taken)
        if not is_inside:
            return None
        if not taken:
            self._incidents.change("people who are in no team: guests", username)
        self._inside.add(username)
        return known

    def add_bot(self, bot: Json) -> None:
        """One with an account."""
        username = string(bot.get("username")).lower()
        if not username or username in self._by_username:
            self._incidents.lose("bots without a name, or in the export twice", username)
            return
        known = self._new(username, person_name(string(bot.get("display_name")), username), is_bot=True)
        known.is_active = not bot.get("delete_at")
        known.owner = string(bot.get("owner")).lower()
        known.picture = string(bot.get("profile_image"))

    def _name(self, user: Json, username: str) -> str:
        full = f"{string(user.get('first_name'))} {string(user.get('last_name'))}".strip()
        said = full or string(user.get("nickname")).strip() or username
        name = person_name(said, username)
        if name != said:
            self._incidents.change("names of people that could not stay as they were", username, f"{said} -> {name}")
        return name

    def _describe(self, known: Member, user: Json) -> None:
        for key, field in FIELDS.items():
            text = plain(string(user.get(key)))
            if len(text) > MOST_VALUE:
                self._incidents.change(f"{field.lower()}s that were too long, and cut", known.key, text)
            setattr(known, key, "" if text == known.name else shortened(text, MOST_VALUE))
        known.status = _status(user.get("custom_status"))
        known.picture = string(user.get("profile_image"))

    def _role(self, known: Member, user: Json, taken: list[str]) -> tuple[Role, Role | None]:
        roles = string(user.get("roles")).split()
        of_teams = [role for text in taken for role in text.split()]
        said = Role.MEMBER if taken else Role.GUEST
        if "system_guest" in roles or "team_guest" in of_teams:
            said = Role.GUEST
        elif "system_admin" in roles:
            said = Role.OWNER
        elif "team_admin" in of_teams:
            said = Role.ADMINISTRATOR
        wanted = self._mapped.get(known.key, {}).get("role", "")
        return decided(said, wanted, known.key, self._incidents, has_address=known.email is not None)

    # Whoever appears later

    def find(self, username: str) -> int | None:
        """Somebody's id here, if the export says who they are."""
        known = self._by_username.get(username.lower())
        return None if known is None else self._referred(known).id

    def person(self, username: str) -> int:
        """Somebody's id here. Who is in no list was erased there: an account without a way in."""
        known = self._by_username.get(username.lower())
        if known is None:
            name = person_name(username, "Unknown")
            self._incidents.change("people who are not in the list of the export", username, name)
            known = self._new(username.lower(), name)
            known.is_active = False
        return self._referred(known).id

    def bot(self, username: str, shown: str) -> int:
        """An integration that writes in somebody's name, by the name that it shows."""
        key = f"{username.lower()}/{shown}"
        if key not in self._by_username and self._names_of_bots >= MOST_NAMES_OF_BOTS:
            key, shown = f"{username.lower()}/", "Integration"
        known = self._by_username.get(key)
        if known is None:
            self._names_of_bots += 1
            known = self._new(key, person_name(shown, "Integration"), is_bot=True)
            known.owner = username.lower()
            self._incidents.change("integrations became bots without a key", username, known.name)
        return known.id

    def is_inside(self, username: str) -> bool:
        """Whether somebody is in a team that is taken."""
        return username.lower() in self._inside

    def _new(self, username: str, name: str, *, is_bot: bool = False, is_wanted: bool = True) -> Member:
        known = Member(0, username, name, is_bot=is_bot)
        self._by_username[username] = known
        return self._wanted(known) if is_wanted else known

    def _wanted(self, known: Member) -> Member:
        if not known.id:
            known.id = SPEAKER + 1 + len(self.all)
            self.all.append(known)
        return known

    def _referred(self, known: Member) -> Member:
        if not known.id:
            self._incidents.change("people of other teams, of whom something is left here: deactivated", known.key)
        return self._wanted(known)

    # In the archive

    def choose_owner(self, address: str) -> None:
        """Whom the operator names."""
        known = self._by_address.get(address.lower())
        make_owner(known if known is not None and known.id else None, address)

    def records(self, joined: datetime) -> list[kinds.Person]:
        """As the archive has them."""
        return [speaker(joined), *(self._record(known, joined) for known in self.all)]

    def _record(self, known: Member, joined: datetime) -> kinds.Person:
        record = msgspec.structs.replace(record_of(known, joined), profile=profile_of(known, FIELDS))
        owner = self._by_username.get(known.owner)
        if record.bot is None or owner is None or not owner.id or owner.is_bot:
            return record
        return msgspec.structs.replace(record, bot=msgspec.structs.replace(record.bot, owner_id=owner.id))


def _status(said: object) -> kinds.Status | None:
    about = said if isinstance(said, dict) else {}
    text, emoji = plain(string(about.get("text"))), string(about.get("emoji"))
    name, code = name_of(emoji), code_of(emoji)
    if not text and not code:
        return None
    return kinds.Status(text=shortened(text, MOST_STATUS), emoji_name=name or "", emoji_code=code or "")
