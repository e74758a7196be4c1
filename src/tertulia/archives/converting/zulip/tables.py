"""The tables of an export: of each row only the fields that are named here, and those that may be many go to the shelf."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tertulia.archives.converting.entries import Unreadable
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.streams import members
from tertulia.archives.converting.tars import TarSource
from tertulia.organization.groups.settings import CHANNEL_SETTINGS, GROUP_SETTINGS, REALM_SETTINGS
from tertulia.organization.realms.settings import RealmSettings
from tertulia.people.preferences.model import UserSettings

Json = dict[str, Any]
MOST_TABLES = 64 * 1024**3
"""Bytes of a file with tables. It is read piece by piece."""
_PERSON = (
    *("id", "delivery_email", "email", "full_name", "role", "is_active", "is_bot", "bot_type", "bot_owner"),
    *("is_mirror_dummy", "date_joined", "timezone", "long_term_idle"),
    *UserSettings.__struct_fields__,
)
KEPT: dict[str, tuple[str, ...]] = {
    "realm": ("id", "name", "description", "date_created", *RealmSettings.__struct_fields__, *REALM_SETTINGS),
    "userprofile": _PERSON,
    "userprofile_mirrordummy": _PERSON,
    "userprofile_crossrealm": ("id", "email"),
    "stream": (
        *("id", "name", "description", "invite_only", "is_web_public", "history_public_to_subscribers", "deactivated"),
        *("date_created", "creator", "folder", "message_retention_days", "topics_policy", *CHANNEL_SETTINGS),
    ),
    "recipient": ("id", "type", "type_id"),
    "defaultstream": ("stream",),
    "channelfolder": ("id", "name", "description", "order", "creator", "date_created", "is_archived"),
    "usergroup": ("id", "name", "description", "is_system_group"),
    "namedusergroup": (
        *("usergroup_ptr", "name", "description", "is_system_group", "deactivated", "creator", "date_created"),
        *GROUP_SETTINGS,
    ),
    "usergroupmembership": ("user_group", "user_profile"),
    "groupgroupmembership": ("supergroup", "subgroup"),
    "customprofilefield": (
        *("id", "name", "hint", "field_type", "field_data", "order", "display_in_profile_summary", "required"),
        *("editable_by_user", "use_for_user_matching"),
    ),
    "customprofilefieldvalue": ("user_profile", "field", "value"),
    "userstatus": ("user_profile", "status_text", "emoji_name", "emoji_code", "reaction_type"),
    "alertword": ("user_profile", "word"),
    "muteduser": ("user_profile", "muted_user", "date_muted"),
    "realmemoji": ("id", "name", "file_name", "author", "deactivated"),
    "realmfilter": (
        *("id", "pattern", "url_template", "url_format_string", "order", "example_input", "reverse_template"),
        "alternative_url_templates",
    ),
    "realmplayground": ("id", "name", "pygments_language", "url_template", "url_prefix"),
    "client": ("id", "name"),
}
"""Tables that are held in memory: they grow with people and channels, not with messages."""
SHELVED = ("subscription", "usertopic", "reaction", "submessage")
"""Tables that may have millions of rows."""
IGNORED = (
    *("huddle", "directmessagegroup", "realmauditlog", "useractivity", "useractivityinterval", "userpresence"),
    *("onboardingstep", "userhotspot", "realmauthenticationmethod", "botstoragedata", "botconfigdata", "service"),
)
"""What has no place here, or says nothing that is not known: not worth a line of the report."""


class Tables:
    """Those that are held in memory, by name."""

    def __init__(self, source: TarSource, incidents: Incidents) -> None:
        self._source = source
        self._incidents = incidents
        self._rows: dict[str, list[Json]] = {name: [] for name in KEPT}

    def __getitem__(self, name: str) -> list[Json]:
        return self._rows[name]

    def read(self) -> Iterator[tuple[str, Json]]:
        """Fill them; rows of other tables that are wanted come one by one."""
        unknown: Counter[str] = Counter()
        for table, row in rows_of(self._source, "realm.json", self._incidents):
            if table in KEPT:
                self._rows[table].append({key: row[key] for key in KEPT[table] if key in row})
            elif table in SHELVED:
                yield table, row
            elif table not in IGNORED:
                unknown[table] += 1
        for table, count in unknown.items():
            self._incidents.lost["rows of tables that are not taken"] += count
            self._incidents.examples.setdefault("rows of tables that are not taken", []).append(table)


def rows_of(
    source: TarSource, name: str, incidents: Incidents, *, is_counted: bool = True
) -> Iterator[tuple[str, Json]]:
    """The rows of a file, each with the name of its table. `is_counted`: what is broken is told; not if it is read again."""

    def lose(what: str, where: str, why: str) -> None:
        if is_counted:
            incidents.lose(what, where, why)

    try:
        for table, row in members(source.pieces(name, MOST_TABLES), name, lose):
            if isinstance(row, dict):
                yield table.removeprefix("zerver_"), row
            else:
                lose("records that cannot be read", name, table)
    except Unreadable as problem:
        lose("files of the export that cannot be read", name, str(problem))
