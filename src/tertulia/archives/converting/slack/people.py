"""Who is who: people and bots of a workspace, and whoever is only spoken of."""

import re
import zoneinfo
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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
from tertulia.archives.converting.values import string
from tertulia.archives.form import kinds
from tertulia.kernel.auth import Role

MOST_VALUE = 50
_ID = re.compile(r"[A-Z0-9]{2,20}")
FIELDS = {"title": "Title", "phone": "Phone"}


@dataclass
class Member(Known):
    """Somebody of a workspace."""

    is_guess: bool = False
    """The name was made up."""
    timezone: str = ""
    title: str = ""
    phone: str = ""


class People:
    """Everybody, by the ids that Slack has for them."""

    def __init__(self, incidents: Incidents, mapped: dict[str, dict[str, str]]) -> None:
        self._incidents = incidents
        self._mapped = mapped
        self._by_slack_id: dict[str, Member] = {}
        self._by_address: dict[str, Member] = {}
        self._names_of_bots = 0
        self._zones = zoneinfo.available_timezones()
        self.all: list[Member] = []
        self.merged = 0

    # Those of users.json

    def add(self, user: dict[str, Any]) -> None:
        """Somebody with an account there."""
        slack_id = user.get("id")
        if not isinstance(slack_id, str) or not _ID.fullmatch(slack_id):
            self._incidents.lose("people without an id", str(user.get("name")))
            return
        if slack_id in self._by_slack_id:
            return
        profile = user.get("profile") if isinstance(user.get("profile"), dict) else {}
        assert isinstance(profile, dict)
        is_bot = bool(user.get("is_bot")) or slack_id == "USLACKBOT"
        email = None if is_bot else self._address(slack_id, profile)
        known = self._by_address.get(email.lower()) if email else None
        if known is not None:
            self._incidents.change("people with the same address became one", slack_id, f"{email}: {known.key}")
            self.merged += 1
            known.is_active |= not user.get("deleted")
            self._by_slack_id[slack_id] = known
            return
        known = self._new(slack_id, self._name(user, profile, slack_id), is_bot=is_bot)
        known.email = email
        known.is_active = not user.get("deleted")
        if email:
            self._by_address[email.lower()] = known
        if is_bot and isinstance(profile.get("bot_id"), str):
            self._by_slack_id[profile["bot_id"]] = known
        self._describe(known, user, profile)

    def _name(self, user: dict[str, Any], profile: dict[str, Any], slack_id: str) -> str:
        wanted = [profile.get("real_name"), user.get("real_name"), profile.get("display_name"), user.get("name")]
        said = next((one for one in wanted if isinstance(one, str) and one.strip()), slack_id)
        name = person_name(said, slack_id)
        if name != said.strip():
            self._incidents.change("names of people that could not stay as they were", slack_id, f"{said} -> {name}")
        return name

    def _address(self, slack_id: str, profile: dict[str, Any]) -> str | None:
        return address_of(slack_id, string(profile.get("email")), self._mapped, self._incidents)

    def _describe(self, known: Member, user: dict[str, Any], profile: dict[str, Any]) -> None:
        known.role, known.proposed = self._role(known, user)
        zone = user.get("tz")
        if isinstance(zone, str) and zone in self._zones:
            known.timezone = zone
        elif zone:
            self._incidents.change("time zones that are not known here", known.key, str(zone))
        for key, field in FIELDS.items():
            text = plain(profile[key]) if isinstance(profile.get(key), str) else ""
            if len(text) > MOST_VALUE:
                self._incidents.change(f"{field.lower()}s that were too long, and cut", known.key, text)
            setattr(known, key, shortened(text, MOST_VALUE))
        known.status = _status(profile)
        if isinstance(profile.get("fields"), dict) and profile["fields"]:
            self._incidents.lose("profile fields without a label", known.key)
        if not known.is_bot and profile.get("image_original"):
            self._incidents.lose("pictures of people: they are not in the export", known.key)

    def _role(self, known: Member, user: dict[str, Any]) -> tuple[Role, Role | None]:
        is_owner = user.get("is_owner") or user.get("is_primary_owner")
        said = Role.OWNER if is_owner else Role.ADMINISTRATOR if user.get("is_admin") else Role.MEMBER
        if user.get("is_restricted") or user.get("is_ultra_restricted"):
            said = Role.GUEST
        if known.is_bot:
            return (said if said is Role.GUEST else Role.MEMBER), None
        wanted = self._mapped.get(known.key, {}).get("role", "")
        return decided(said, wanted, known.key, self._incidents, has_address=known.email is not None)

    # Whoever appears later

    def person(self, slack_id: str, label: str = "") -> int:
        """Somebody's id here. Who is in no list was erased there, or is of another workspace: an account without a way in."""
        known = self._by_slack_id.get(slack_id)
        if known is None:
            name = person_name(label, f"Unknown {slack_id[:20]}")
            self._incidents.change("people who are not in the list of the export", slack_id, name)
            known = self._new(slack_id, name)
            known.is_guess = not label
            known.is_active = False
            known.email = self._address(slack_id, {})
            if known.email and known.email.lower() in self._by_address:
                known.email = None
            elif known.email:
                self._by_address[known.email.lower()] = known
        elif known.is_guess and label:
            known.name, known.is_guess = person_name(label, known.name), False
        return known.id

    def bot(self, bot_id: str, shown: str) -> int:
        """An integration, by its id and the name that it had in a message."""
        known = self._by_slack_id.get(bot_id) if bot_id else None
        if known is not None and (not shown or known.name == person_name(shown, known.name)):
            return known.id
        key = f"{bot_id}/{shown}"
        if key in self._by_slack_id:
            return self._by_slack_id[key].id
        if known is not None and self._names_of_bots >= MOST_NAMES_OF_BOTS:
            return known.id
        self._names_of_bots += 1
        made = self._new(key, person_name(shown, f"Bot {bot_id}".strip()), is_bot=True)
        if bot_id:
            self._by_slack_id.setdefault(bot_id, made)
        self._incidents.change("integrations became bots without a key", bot_id, made.name)
        return made.id

    def _new(self, slack_id: str, name: str, *, is_bot: bool = False) -> Member:
        known = Member(SPEAKER + 1 + len(self.all), slack_id, name, is_bot=is_bot)
        self.all.append(known)
        self._by_slack_id[slack_id] = known
        return known

    def has(self, slack_id: str) -> bool:
        """Whether somebody is known by now."""
        return slack_id in self._by_slack_id

    # In the archive

    def choose_owner(self, address: str) -> None:
        """Whom the operator names."""
        make_owner(self._by_address.get(address.lower()), address)

    def records(self, joined: datetime) -> list[kinds.Person]:
        """As the archive has them."""
        return [speaker(joined), *(_record(known, joined) for known in self.all)]


def _record(known: Member, joined: datetime) -> kinds.Person:
    profile = profile_of(known, FIELDS)
    return msgspec.structs.replace(record_of(known, joined), timezone=known.timezone, profile=profile)


def _status(profile: dict[str, Any]) -> kinds.Status | None:
    text = plain(profile["status_text"]) if isinstance(profile.get("status_text"), str) else ""
    emoji = profile.get("status_emoji")
    emoji = emoji.strip(":") if isinstance(emoji, str) else ""
    name, code = name_of(emoji), code_of(emoji)
    if not text and not code:
        return None
    return kinds.Status(text=shortened(text, 60), emoji_name=name or "", emoji_code=code or "")
