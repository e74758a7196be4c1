"""What an endpoint would refuse, an archive does not bring: asked of the whole archive before a row is written (pure)."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds, moving
from tertulia.archives.form.container import is_file_path
from tertulia.archives.loading.shifts import Shifts, Spans
from tertulia.archives.reading.archive import Archive
from tertulia.conversations.channels.rules import clean_channel_name
from tertulia.kernel.bounds import Bounds
from tertulia.kernel.errors import Refusal
from tertulia.kernel.mail_addresses import is_address
from tertulia.organization.groups.bounds import SUBGROUPS
from tertulia.organization.groups.settings import GROUP_SETTINGS, REALM_SETTINGS
from tertulia.organization.groups.system import FACTS
from tertulia.organization.linkifiers.model import LinkifierRecord
from tertulia.organization.linkifiers.rules import check_linkifier, check_together
from tertulia.organization.playgrounds.actions import check_playground
from tertulia.organization.realms.changing.actions import check_stored, clean_about
from tertulia.organization.realms.settings import CHANNELS, NO_CHANNEL, RealmSettings
from tertulia.people.alert_words.bounds import ALERT_WORDS
from tertulia.people.bots.bounds import STORED_CHARACTERS, STORED_KEYS
from tertulia.people.bots.rules import check_url
from tertulia.people.bots.storage.actions import MAX_KEY_LENGTH
from tertulia.people.preferences.choices import check_choices, check_timezone
from tertulia.people.preferences.model import UserSettings
from tertulia.people.profiles.model import ProfileField
from tertulia.people.profiles.rules import clean_field_data
from tertulia.people.users.model import MAX_KEYS
from tertulia.people.users.passwords import MUST_RESET, is_affordable
from tertulia.people.users.rules import clean_full_name

S = TypeVar("S", bound=msgspec.Struct)


def check_rules(archive: Archive, spans: Spans) -> None:
    """ArchiveFailed at the first thing that nobody could have made by the API. Nothing is refused later: what a newer archive
    takes the place of would be gone by then.
    """
    spans.check()
    where = "The organization"
    try:
        [organization] = archive.of(kinds.Organization)
        clean_about("name", organization.name)
        clean_about("description", organization.description)
        check_stored(msgspec.convert(settings_of(organization, Shifts(), spans), RealmSettings))
        user_settings(organization.user_defaults, where)
        check_permissions(organization)
        check_groups(list(archive.of(kinds.Group)))
        check_linkifiers(archive.of(kinds.Linkifier))
        for field in archive.of(kinds.ProfileField):
            where = f"Profile field {field.id}"
            check_field(field)
        for person in archive.of(kinds.Person):
            where = f"Person {person.id}"
            user_settings(person.private.settings if person.private else {}, where)
            check_person(person)
        for play in archive.of(kinds.Playground):
            where = f"Playground {play.id}"
            check_playground(play.name, play.pygments_language, play.url_template)
        for channel in archive.of(kinds.Channel):
            where = f"Channel {channel.id}"
            clean_channel_name(channel.name)
        for file in archive.of(kinds.File):
            where = f"File {file.id}"
            check_file(file)
        if archive.manifest.scope == "moving":
            check_passwords(archive.of(moving.Credentials))
    except Refusal as refusal:
        raise ArchiveFailed(f"{where}: {refusal}") from refusal


def check_person(one: kinds.Person) -> None:
    """Refuse a name, an address, a zone or a server that nobody could have here."""
    check_timezone(one.timezone)
    if one.bot is None or one.bot.system is None:
        clean_full_name(one.full_name)
    if one.bot is None and one.email and not is_address(one.email):
        raise Refusal(f"{one.email!r} is no mail address.")
    if one.bot is not None and one.bot.url is not None:
        check_url(one.bot.url)


def check_file(one: kinds.File) -> None:
    """Refuse an address that texts cannot link."""
    if not is_file_path(one.path):
        raise Refusal(f"{one.path!r} is no path of a file (docs/reference/archive.md).")


def check_permissions(organization: kinds.Organization) -> None:
    """Refuse those of a newer program."""
    if unknown := organization.permissions.keys() - REALM_SETTINGS.keys():
        raise Refusal(f"there is a permission that this program does not know: {min(unknown)}.")


def check_passwords(lines: Iterable[moving.Credentials]) -> None:
    """Refuse hashes that say they take more than any log-in here may: whoever tries a password would keep others out."""
    for one in lines:
        if one.password_hash not in (None, MUST_RESET) and not is_affordable(one.password_hash):
            raise ArchiveFailed(f"Person {one.user_id} has a password that would cost too much to check.")


def check_shares(archive: Archive, bounds: Bounds) -> None:
    """Refuse an archive with more groups in groups than endpoints here allow: each send climbs through them; or with more alert
    words of somebody, in which each send looks. And a moving one in which an account has more keys, or a bot more in its storage.
    """
    within = sum(len(set(group.subgroups)) for group in archive.of(kinds.Group) if group.name is not None)
    if within > (limit := bounds.limit(SUBGROUPS)):
        raise ArchiveFailed(
            f"There are {within:,} groups in groups, and {limit:,} are the most here. The setting `bounds` allows more"
            f" ({SUBGROUPS.name})."
        )
    words, limit = Counter[int](), bounds.limit(ALERT_WORDS)
    for person in archive.of(kinds.Person):
        owner = person.id if person.bot is None else person.bot.owner_id or person.id
        words[owner] += len(person.private.alert_words) if person.private else 0
        if words[owner] > limit:
            raise ArchiveFailed(
                f"Person {owner} and their bots have {words[owner]:,} alert words, and {limit:,} are the most here. The setting"
                f" `bounds` allows more ({ALERT_WORDS.name})."
            )
    if archive.manifest.scope != "moving":
        return
    for one in archive.of(moving.Credentials):
        if len(one.keys) > MAX_KEYS:
            raise ArchiveFailed(f"Person {one.user_id} has {len(one.keys):,} API keys, and {MAX_KEYS} is the most.")
    keys, characters = Counter[int](), Counter[int]()
    for kept in archive.of(moving.Stored):
        if len(kept.key) > MAX_KEY_LENGTH:
            raise ArchiveFailed(
                f"A key in the storage of bot {kept.user_id} has more than {MAX_KEY_LENGTH} characters."
            )
        keys[kept.user_id] += 1
        characters[kept.user_id] += len(kept.key) + len(kept.value)
        for counted, bound in ((keys, STORED_KEYS), (characters, STORED_CHARACTERS)):
            if counted[kept.user_id] > (limit := bounds.limit(bound)):
                raise ArchiveFailed(
                    f"Bot {kept.user_id} has more than {limit:,} {bound.what}, which are the most here. The setting `bounds`"
                    f" allows more ({bound.name})."
                )


# Settings


def known_settings(settings: dict[str, Any], type: type[S], where: str) -> dict[str, Any]:
    """Those that this program knows. What it does not know is left out; a value that cannot be is refused."""
    try:
        msgspec.convert(settings, type, strict=True)
    except msgspec.ValidationError as error:
        raise ArchiveFailed(f"{where} has a setting that cannot be: {error}.") from error
    known = {field.name for field in msgspec.structs.fields(type)}
    return {name: value for name, value in settings.items() if name in known}


def user_settings(settings: dict[str, Any], where: str) -> dict[str, Any]:
    """Of a person, or of those who come."""
    found = known_settings(settings, UserSettings, where)
    check_choices(found)
    return found


def settings_of(organization: kinds.Organization, shifts: Shifts, spans: Spans) -> dict[str, Any]:
    """Of the organization, as they are here. A channel outside the archive could come to mean another organization's."""
    found = known_settings(organization.settings, RealmSettings, "The organization")
    for name in CHANNELS:
        channel = found.get(name, NO_CHANNEL)
        if spans.has("conversation", channel):
            found[name] = channel + shifts.conversation
        else:
            found.pop(name, None)
    return found


def check_linkifiers(lines: Iterable[kinds.Linkifier]) -> None:
    """Refuse those that cannot be run, alone or together."""
    linkifiers = []
    for one in lines:
        templates = (one.example_input, one.reverse_template, one.alternative_url_templates)
        linkifiers.append(LinkifierRecord(one.id, one.pattern, one.url_template, *templates))
        check_linkifier(linkifiers[-1])
    check_together(linkifiers)


# Profiles


def check_field(field: kinds.ProfileField) -> None:
    """Refuse what the type of a field does not know."""
    try:
        data = msgspec.json.decode(field.field_data) if field.field_data else None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Refusal("field_data is no JSON.") from error
    clean_field_data(field.type, data)


def as_field(field: kinds.ProfileField) -> ProfileField:
    """A field as the rules of profiles know it."""
    return ProfileField(
        id=field.id,
        type=field.type,
        order=0,
        name=field.name,
        hint=field.hint,
        field_data=field.field_data,
        required=field.required,
        editable_by_user=field.editable_by_user,
    )


# Groups


def check_groups(groups: Iterable[kinds.Group]) -> None:
    """System groups are those that we know, settings too, and no group is in itself."""
    below = {one.id: one.subgroups for one in groups}
    for one in groups:
        if (one.name or "").startswith("role:") and one.name not in FACTS:
            raise ArchiveFailed(f"Group {one.id}: there is no system group {one.name!r}.")
        if one.name in FACTS and (one.members or one.subgroups or one.is_deactivated):
            raise ArchiveFailed(f"Group {one.id}: who belongs to {one.name} follows from the roles.")
        if unknown := one.permissions.keys() - GROUP_SETTINGS.keys():
            raise ArchiveFailed(f"Group {one.id} has a permission that this program does not know: {min(unknown)}.")
    done: set[int] = set()
    for start, subgroups in below.items():
        path: list[tuple[int, Iterable[int]]] = [(start, iter(subgroups))]
        on_path = {start}
        while path:
            group, rest = path[-1]
            if (child := next(iter(rest), None)) is None:  # an iterator goes on where it was
                path.pop()
                on_path.discard(group)
                done.add(group)
            elif child in on_path:
                raise ArchiveFailed(f"Group {child} is in itself, by way of others.")
            elif child not in done:
                on_path.add(child)
                path.append((child, iter(below[child])))
