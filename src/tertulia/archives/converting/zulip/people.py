"""Who is who: people and bots of an organization, with the ids that they had."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tertulia.archives.converting.accounts import decided, no_owner
from tertulia.archives.converting.known import address_of
from tertulia.archives.converting.names import MOST_TOPIC, person_name, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.zulip.tables import Json, Tables
from tertulia.archives.converting.zulip.values import id_of, moment, words
from tertulia.archives.form import kinds
from tertulia.kernel.auth import Role
from tertulia.kernel.errors import Refusal
from tertulia.organization.notices.model import BOT_NAME
from tertulia.organization.realms.queries import NOTIFICATION_BOT_EMAIL
from tertulia.people.preferences.choices import check_choices, check_timezone
from tertulia.people.preferences.model import UserSettings

SPEAKER_NAME = "notification-bot"
"""How the address begins of the bot that speaks for the server."""
MOST_WORD = 100


@dataclass
class Known:
    """Somebody, as far as the export says."""

    id: int
    name: str
    email: str | None = None
    role: Role = Role.MEMBER
    proposed: Role | None = None
    is_active: bool = False
    is_idle: bool = False
    """They were away so long that rows about what they received were no longer written."""
    bot: kinds.Bot | None = None
    joined: datetime | None = None
    timezone: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    status: kinds.Status | None = None
    profile: list[kinds.ProfileValue] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    muted: dict[int, datetime] = field(default_factory=dict)


class People:
    """Everybody, by id."""

    def __init__(self, incidents: Incidents, mapped: dict[str, dict[str, str]]) -> None:
        self._incidents = incidents
        self._mapped = mapped
        self._by_address: dict[str, Known] = {}
        self._speaker = 0
        self.all: dict[int, Known] = {}

    # Those of the export

    def read(self, tables: Tables, created: datetime) -> None:
        """Everybody with an account there."""
        for row in (*tables["userprofile"], *tables["userprofile_mirrordummy"]):
            self._add(row, created)
        for row in tables["userprofile_crossrealm"]:
            self._add_system_bot(row)
        for row in tables["userprofile"]:
            self._set_owner_of_bot(row)
        self._read_belongings(tables, created)

    def _add(self, row: Json, created: datetime) -> None:
        id = id_of(row.get("id"))
        if not id or id in self.all:
            self._incidents.lose("people without an id, or in the export twice", words(row.get("full_name"))[:100])
            return
        said = words(row.get("full_name"))
        name = person_name(said, f"Unknown {id}")
        if name != said:
            self._incidents.change("names of people that could not stay as they were", str(id), f"{said} -> {name}")
        known = self.all[id] = Known(id, name)
        known.is_active = row.get("is_active") is True
        known.is_idle = bool(row.get("long_term_idle"))
        known.joined = moment(row.get("date_joined"), created)
        is_bot = bool(row.get("is_bot"))
        known.email = self._address(known, row)
        role = row.get("role")
        said_role = Role(role) if type(role) is int and role in set(Role) else Role.MEMBER
        if is_bot:
            type_ = row.get("bot_type")
            known.bot = kinds.Bot(type=type_ if type(type_) is int and 1 <= type_ <= 4 else 1, role=Role.MEMBER)
        else:
            wanted = self._mapped.get(str(id), {}).get("role", "")
            known.role, known.proposed = decided(
                said_role, wanted, str(id), self._incidents, has_address=known.email is not None
            )
        self._describe(known, row)

    def _address(self, known: Known, row: Json) -> str | None:
        said = words(row.get("delivery_email")) or words(row.get("email"))
        email = address_of(str(known.id), said, self._mapped, self._incidents)
        if email is None:
            return None
        if email.lower() in self._by_address:
            self._incidents.change("addresses that somebody else has already: left out", str(known.id), email)
            return None
        self._by_address[email.lower()] = known
        return email

    def _describe(self, known: Known, row: Json) -> None:
        zone = words(row.get("timezone"))
        try:
            check_timezone(zone)
            known.timezone = zone
        except Refusal:
            self._incidents.change("time zones that are not known here", str(known.id), zone)
        known.settings = chosen(row, UserSettings, check_choices)

    def _add_system_bot(self, row: Json) -> None:
        id, email = id_of(row.get("id")), words(row.get("email"))
        if not id or id in self.all:
            return
        name = email.partition("@")[0]
        if name == SPEAKER_NAME and not self._speaker:
            self._speaker = id
            bot = kinds.Bot(type=1, role=Role.MEMBER, system="notification")
            self.all[id] = Known(id, BOT_NAME, NOTIFICATION_BOT_EMAIL, is_active=True, bot=bot)
            return
        shown = person_name(name.replace("-", " ").title(), f"Bot {id}")
        self.all[id] = Known(id, shown, bot=kinds.Bot(type=1, role=Role.MEMBER))

    def _set_owner_of_bot(self, row: Json) -> None:
        known, owner = self.all.get(id_of(row.get("id"))), self.all.get(id_of(row.get("bot_owner")))
        if known is not None and known.bot is not None and owner is not None and owner.bot is None:
            known.bot = msgspec.structs.replace(known.bot, owner_id=owner.id)

    def _read_belongings(self, tables: Tables, created: datetime) -> None:
        for row in tables["alertword"]:
            known, word = self.all.get(id_of(row.get("user_profile"))), words(row.get("word")).strip()
            if known is not None and 1 <= len(word) <= MOST_WORD:
                known.words.append(word)
        for row in tables["muteduser"]:
            known, other = self.all.get(id_of(row.get("user_profile"))), id_of(row.get("muted_user"))
            if known is not None and other in self.all and other != known.id:
                known.muted[other] = moment(row.get("date_muted"), created)

    def take_statuses(self, rows: Sequence[Json], is_emoji: Any) -> None:
        """What people say about themselves. `is_emoji`: whether a kind and a code are one."""
        for row in rows:
            known = self.all.get(id_of(row.get("user_profile")))
            if known is None or not known.is_active:
                continue
            text = shortened(plain(words(row.get("status_text"))), MOST_TOPIC)
            kind, code = is_emoji(row.get("reaction_type"), row.get("emoji_code"))
            name = words(row.get("emoji_name"))[:100]
            if code and name:
                known.status = kinds.Status(text=text, emoji_name=name, emoji_code=code, reaction_type=kind)
            elif text:
                known.status = kinds.Status(text=text)

    # Whoever appears later

    def person(self, value: object) -> int:
        """Somebody's id; 0 if it is none. Who is in no table was erased: an account without a way in."""
        id = id_of(value)
        if id and id not in self.all:
            self._incidents.change("people who are not in the export", str(id))
            self.all[id] = Known(id, f"Unknown {id}")
        return id

    # In the archive

    def choose_owner(self, address: str) -> None:
        """The operator says who: what the export says is a proposal only."""
        known = self._by_address.get(address.lower())
        if known is None or not known.is_active or known.bot is not None:
            raise no_owner(address)
        known.role = Role.OWNER

    def humans(self) -> list[Known]:
        """All who are no bots."""
        return [known for known in self.all.values() if known.bot is None]

    def records(self, created: datetime) -> Iterable[kinds.Person]:
        """As the archive has them, without their pictures."""
        return (_record(self.all[id], created) for id in sorted(self.all))


def chosen(row: Json, form: type[msgspec.Struct], check: Any) -> dict[str, Any]:
    """The settings of a row that we know, as far as they can be here and differ from the defaults."""
    found: dict[str, Any] = {}
    for name, default in _defaults(form).items():
        if name not in row or row[name] == default:
            continue
        try:
            value = {name: row[name]}
            msgspec.convert(value, form, strict=True)
            check(value)
            msgspec.json.encode(value)
        except (msgspec.MsgspecError, Refusal, UnicodeEncodeError):
            continue
        found |= value
    return found


@functools.cache
def _defaults(form: type[msgspec.Struct]) -> dict[str, Any]:
    return {one.name: one.default for one in msgspec.structs.fields(form)}


def _record(known: Known, created: datetime) -> kinds.Person:
    private = None
    if known.bot is None:
        muted = [kinds.Muted(user_id=id, at=at) for id, at in sorted(known.muted.items())]
        private = kinds.Private(settings=known.settings, muted=muted, alert_words=sorted(set(known.words)))
    return kinds.Person(
        id=known.id,
        email=known.email,
        full_name=known.name,
        role=known.role,
        is_active=known.is_active,
        is_imported_stub=known.bot is None,
        joined=known.joined or created,
        timezone=known.timezone,
        status=known.status,
        profile=known.profile,
        bot=known.bot,
        private=private,
    )
