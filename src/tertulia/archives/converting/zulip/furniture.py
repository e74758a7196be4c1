"""What an organization has besides people and places: groups, fields of profiles, emoji, patterns, settings.

What our rules would refuse is left out and counted, one by one: the archive would be refused as a whole.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from tertulia.archives.converting.names import UniqueNames, plain, shortened
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.zulip.people import People, chosen
from tertulia.archives.converting.zulip.tables import Json, Tables
from tertulia.archives.converting.zulip.values import id_of, microseconds, moment, words
from tertulia.archives.form import kinds
from tertulia.content.emoji import EXTRA_EMOJI, is_code
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import name_key_of
from tertulia.organization.custom_emoji.model import CUSTOM, EXTRA, UNICODE
from tertulia.organization.groups.settings import GROUP_SETTINGS, SettingRule
from tertulia.organization.groups.system import FACTS, SystemGroup
from tertulia.organization.linkifiers.model import LinkifierRecord
from tertulia.organization.linkifiers.rules import check_linkifier, check_together
from tertulia.organization.playgrounds.actions import check_playground
from tertulia.organization.realms.changing.actions import check_stored
from tertulia.organization.realms.settings import RealmSettings
from tertulia.people.profiles.rules import clean_field_data

MOST_FIELD, MOST_HINT, MOST_GROUP, MOST_ORGANIZATION = 40, 80, 100, 40
MOST_ABOUT = 1000
EXTRA_ELSEWHERE = "zulip_extra_emoji"
LOST_GROUPS = "groups without an id, or that no organization has here"
_EMOJI_NAME = re.compile(r"[^0-9a-z_-]+")
_OLD_VARIABLE = re.compile(r"%\((\w+)\)s")


class Furniture:
    """All of it."""

    def __init__(self, tables: Tables, people: People, incidents: Incidents, created: datetime) -> None:
        self._tables = tables
        self._people = people
        self._incidents = incidents
        self._created = created
        self.emoji: dict[int, kinds.Emoji] = {}
        self.emoji_files: dict[int, str] = {}
        """Of emoji by id: what their pictures are called."""
        self._read_emoji()
        self.groups = self._groups()
        self.group_names: dict[int, str | None] = {one.id: one.name for one in self.groups}
        self.fields = self._fields()

    def _lost(self, what: str, row: Json, why: str = "") -> None:
        self._incidents.lose(what, str(row.get("id"))[:20], why or words(row.get("name"))[:100])

    def _creator(self, value: object) -> int | None:
        id = id_of(value)
        return id if id in self._people.all else None

    # The organization

    def organization(self, subdomain: str, name: str, fallback: str) -> kinds.Organization:
        """With what it was called there, unless the operator says otherwise."""
        row = next(iter(self._tables["realm"]), {})
        called = plain(name) or plain(words(row.get("name"))) or fallback

        def check(value: Json) -> None:
            check_stored(msgspec.convert(value, RealmSettings))

        return kinds.Organization(
            id=id_of(row.get("id")) or 1,
            subdomain=subdomain,
            name=shortened(called, MOST_ORGANIZATION),
            description=shortened(words(row.get("description")), MOST_ABOUT),
            created=self._created,
            settings=chosen(row, RealmSettings, check),
        )

    # Groups

    def _groups(self) -> list[kinds.Group]:
        members: dict[int, set[int]] = {}
        for row in self._tables["usergroupmembership"]:
            group, person = id_of(row.get("user_group")), id_of(row.get("user_profile"))
            if group and person in self._people.all:
                members.setdefault(group, set()).add(person)
        named: dict[int, Json] = {}
        for row in self._tables["namedusergroup"]:
            if id := id_of(row.get("usergroup_ptr")):
                named[id] = row
            else:
                self._lost(LOST_GROUPS, row)
        # In older exports a group and its name are one row.
        named |= {id_of(row.get("id")): row for row in self._tables["usergroup"] if "name" in row}
        ids = sorted({id_of(row.get("id")) for row in self._tables["usergroup"]} | named.keys())
        names, systems, found = UniqueNames(MOST_GROUP), dict[str, int](), dict[int, kinds.Group]()
        for id in ids:
            about = named.get(id)
            said = None if about is None else words(about.get("name"))
            if not id or (said is not None and said.startswith("role:") and (said not in FACTS or said in systems)):
                self._incidents.lose(LOST_GROUPS, str(id), said or "")
            elif said in FACTS and said is not None:
                systems[said] = id
                found[id] = kinds.Group(id=id, name=said)
            else:
                found[id] = self._group(id, about, names, members.get(id, set()))
        inside = self._subgroups(found)
        shown = {id: one.name for id, one in found.items()}
        return [
            msgspec.structs.replace(
                one,
                subgroups=sorted(inside.get(id, ())),
                permissions={} if one.name is None else permissions(named.get(id, {}), GROUP_SETTINGS, shown),
            )
            for id, one in found.items()
        ]

    def _group(self, id: int, row: Json | None, names: UniqueNames, members: set[int]) -> kinds.Group:
        if row is None:
            return kinds.Group(id=id, members=sorted(members))
        return kinds.Group(
            id=id,
            name=names.take(words(row.get("name")), f"group {id}"),
            description=shortened(words(row.get("description")), 1024),
            is_deactivated=row.get("deactivated") is True,
            creator_id=self._creator(row.get("creator")),
            created=moment(row.get("date_created"), self._created),
            members=sorted(members),
        )

    def _subgroups(self, groups: dict[int, kinds.Group]) -> dict[int, set[int]]:
        """Without circles, and without what follows from roles."""
        inside: dict[int, set[int]] = {}
        for row in self._tables["groupgroupmembership"]:
            outer, inner = id_of(row.get("supergroup")), id_of(row.get("subgroup"))
            if outer not in groups or inner not in groups or groups[outer].name in FACTS:
                continue
            if outer in _below(inside, inner):
                self._incidents.lose("groups that are in themselves: taken out", f"{outer}, {inner}")
            else:
                inside.setdefault(outer, set()).add(inner)
        return inside

    # Profiles

    def _fields(self) -> list[kinds.ProfileField]:
        found: dict[int, kinds.ProfileField] = {}
        names: set[str] = set()
        for row in self._tables["customprofilefield"]:
            id, type_, order = id_of(row.get("id")), row.get("field_type"), row.get("order")
            name = shortened(plain(words(row.get("name"))), MOST_FIELD)
            data = words(row.get("field_data"))
            if not id or id in found or not name or name_key_of(name) in names or not _is_field(type_, data):
                self._lost("profile fields that cannot be here", row)
                continue
            names.add(name_key_of(name))
            found[id] = kinds.ProfileField(
                id=id,
                type=type_,  # type: ignore[arg-type]  # _is_field says so
                name=name,
                hint=shortened(words(row.get("hint")), MOST_HINT),
                field_data=data,
                position=order if type(order) is int and abs(order) < 2**31 else 0,
                display_in_profile_summary=row.get("display_in_profile_summary") is True,
                required=row.get("required") is True,
                editable_by_user=row.get("editable_by_user") is not False,
                use_for_user_matching=row.get("use_for_user_matching") is True,
            )
        said: set[tuple[int, int]] = set()
        for row in self._tables["customprofilefieldvalue"]:
            known, field = self._people.all.get(id_of(row.get("user_profile"))), id_of(row.get("field"))
            if known is not None and field in found and (known.id, field) not in said and words(row.get("value")):
                said.add((known.id, field))
                known.profile.append(kinds.ProfileValue(field_id=field, value=words(row.get("value"))))
        return list(found.values())

    # Emoji

    def _read_emoji(self) -> None:
        names = UniqueNames(100)
        for row in sorted(self._tables["realmemoji"], key=lambda one: id_of(one.get("id"))):
            id, said = id_of(row.get("id")), words(row.get("name"))
            name = _EMOJI_NAME.sub("_", said.lower()).strip("_-")[:90]
            is_off = row.get("deactivated") is True
            if not id or id in self.emoji or not name or (not is_off and names.take(name, name) != name):
                self._lost("custom emoji without an id or a name of their own", row)
                continue
            if name != said:
                self._incidents.change("names of custom emoji that could not stay", str(id), f"{said} -> {name}")
            author = self._creator(row.get("author"))
            self.emoji[id] = kinds.Emoji(
                id=id, name=name, author_id=author, is_deactivated=is_off, created=self._created
            )
            self.emoji_files[id] = words(row.get("file_name"))

    def reaction(self, kind: object, code: object) -> tuple[Any, str]:
        """An emoji as we know it: its kind and its code, which is empty if there is none."""
        said = words(code)
        if kind == CUSTOM:
            return CUSTOM, said if said.isdecimal() and len(said) < 12 and int(said) in self.emoji else ""
        if kind in (EXTRA_ELSEWHERE, EXTRA):
            return EXTRA, EXTRA_EMOJI
        return UNICODE, said if is_code(said) else ""

    # Patterns

    def linkifiers(self) -> list[kinds.Linkifier]:
        """Those that can be run here."""
        found: dict[int, kinds.Linkifier] = {}
        taken: list[LinkifierRecord] = []
        for place, row in enumerate(self._tables["realmfilter"]):
            id, pattern, order = id_of(row.get("id")), words(row.get("pattern")), row.get("order")
            old = _OLD_VARIABLE.sub(r"{\1}", words(row.get("url_format_string")))
            record = LinkifierRecord(id, pattern, words(row.get("url_template")) or old, None, None, [])
            try:
                if not id or id in found or not pattern:
                    raise Refusal("It has no id or no pattern.")
                check_linkifier(record)
                check_together([*taken, record])
            except Refusal as refusal:
                self._lost("linkifiers that cannot be here", row, f"{pattern}: {refusal}")
                continue
            taken.append(record)
            position = order if type(order) is int and abs(order) < 2**31 else place
            found[id] = kinds.Linkifier(id=id, pattern=pattern, url_template=record.url_template, position=position)
        return list(found.values())

    def playgrounds(self) -> list[kinds.Playground]:
        """Those that our rules allow."""
        found: dict[int, kinds.Playground] = {}
        for row in self._tables["realmplayground"]:
            id, name, language = id_of(row.get("id")), words(row.get("name")), words(row.get("pygments_language"))
            prefix = words(row.get("url_prefix"))
            template = words(row.get("url_template")) or (prefix and prefix + "{code}")
            try:
                if not id or id in found:
                    raise Refusal("It has no id.")
                check_playground(name, language, template)
            except Refusal as refusal:
                self._lost("playgrounds that cannot be here", row, str(refusal))
                continue
            found[id] = kinds.Playground(id=id, name=name, pygments_language=language, url_template=template)
        return list(found.values())


def created_of(tables: Tables) -> int:
    """When the organization began, in microseconds; 0 if nobody knows."""
    return microseconds(next(iter(tables["realm"]), {}).get("date_created"))


def permissions(row: Json, rules: Mapping[str, SettingRule], groups: Mapping[int, str | None]) -> dict[str, int]:
    """The groups that hold permissions, as far as they are in the archive and may hold them here."""
    found = {}
    for name, rule in rules.items():
        id = id_of(row.get(name))
        if id in groups and _may_hold(groups[id], rule):
            found[name] = id
    return found


def _may_hold(name: str | None, rule: SettingRule) -> bool:
    if name not in FACTS or name is None:
        return not rule.require_system_group
    system = SystemGroup(name)
    if rule.allowed_system_groups and system not in rule.allowed_system_groups:
        return False
    never = {SystemGroup.EVERYONE: rule.allow_everyone, SystemGroup.NOBODY: rule.allow_nobody}
    never[SystemGroup.INTERNET] = rule.allow_internet
    return never.get(system, True) and system not in rule.forbidden


def _below(inside: dict[int, set[int]], start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for one in inside.get(waiting.pop(), ()):
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def _is_field(type_: object, data: str) -> bool:
    if type(type_) is not int or not 1 <= type_ <= 8:
        return False
    try:
        clean_field_data(type_, msgspec.json.decode(data) if data else None)
    except (msgspec.MsgspecError, RecursionError, Refusal):
        return False
    return True
