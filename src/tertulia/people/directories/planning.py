"""What is different between the directory and the accounts here (pure), and whether that can be right."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from tertulia.kernel.settings import Settings
from tertulia.people.directories.listing import Listed, ListedPerson, ListingFailure, has_own_id
from tertulia.people.directories.queries import KnownPerson
from tertulia.people.directories.rules import allowed_leavers, role_after, standing_of
from tertulia.people.logins.names import presentable_name
from tertulia.people.users.actions import Changes
from tertulia.people.users.rules import is_email


class Leaver(msgspec.Struct, frozen=True):
    """Somebody who is to be deactivated."""

    person: KnownPerson
    why: str


class PersonChange(msgspec.Struct, frozen=True):
    """Somebody who is to have another name, address or role."""

    person: KnownPerson
    changes: Changes


class Placement(msgspec.Struct, frozen=True):
    """People who are to be put into a group, or taken out."""

    group_id: int
    name: str
    add: list[KnownPerson]
    remove: list[KnownPerson]


class Groups(msgspec.Struct, frozen=True):
    """The groups that the settings name, as far as the organization has them, and who is in them directly."""

    ids: Mapping[str, int]
    members: Mapping[int, Collection[int]]


class Plan(msgspec.Struct, frozen=True):
    """All that is to be done."""

    known: int
    """How many active people came from the directory."""
    leavers: list[Leaver]
    changes: list[PersonChange]
    placements: list[Placement]
    problems: list[str]
    """What cannot be done, for the operator."""


def plan(settings: Settings, listed: Listed, known: Sequence[KnownPerson], groups: Groups) -> Plan:
    """What has to be done so that the accounts are as the directory says."""
    _check_ids(settings, listed, known)
    entries = {person.id: person for person in listed.people}
    problems = list(listed.unread.values())
    leavers: list[Leaver] = []
    staying: list[tuple[KnownPerson, ListedPerson]] = []
    for person in known:
        found = [entries[subject] for subject in person.subjects if subject in entries]
        present = [entry for entry in found if not entry.is_disabled]
        if present:
            staying.append((person, present[-1]))
        else:
            leavers.append(Leaver(person, "disabled in the directory" if found else "not in the directory any more"))
    decided = [membership for membership in settings.ldap_memberships if membership.where not in listed.unread]
    standings = {person.id: standing_of(decided, entry.belongs) for person, entry in staying}
    unsure = [membership for membership in settings.ldap_memberships if membership.where in listed.unread]
    changes = []
    for person, entry in staying:
        role = person.role if any(rule.role for rule in unsure) else role_after(person.role, standings[person.id])
        if (change := _change(person, entry, role, problems)) is not None:
            changes.append(change)
    # What several rules decide, one of which is not known this time, is left as it is.
    placements = []
    for name in sorted({rule.group for rule in decided if rule.group} - {rule.group for rule in unsure}):
        if name not in groups.ids:
            problems.append(f"The organization has no group {name}, or it is deactivated: make it first.")
            continue
        inside = groups.members.get(groups.ids[name], ())
        add = [person for person, _ in staying if name in standings[person.id].groups and person.id not in inside]
        remove = [person for person, _ in staying if name not in standings[person.id].groups and person.id in inside]
        if add or remove:
            placements.append(Placement(groups.ids[name], name, add, remove))
    return Plan(len(known), leavers, changes, placements, problems)


def _check_ids(settings: Settings, listed: Listed, known: Sequence[KnownPerson]) -> None:
    """Refuse an answer in which nobody could be recognized."""
    if not listed.people:
        raise ListingFailure(
            "The directory shows nobody at all, so nothing was changed: look at ldap_search_base, ldap_people_filter and"
            " what ldap_bind_dn may read."
        )
    has_ids = any(has_own_id(person.id) for person in listed.people)
    if not has_ids and any(has_own_id(subject) for person in known for subject in person.subjects):
        raise ListingFailure(
            f"The directory does not show {settings.ldap_id_attribute}, by which people are known, so nothing was changed:"
            " let ldap_bind_dn read it."
        )


def _change(person: KnownPerson, entry: ListedPerson, role: int, problems: list[str]) -> PersonChange | None:
    name, email = presentable_name(entry.full_name), entry.email
    if not is_email(email):
        problems.append(f"The directory says no email address of {person.email}.")
        email = person.email
    changes = Changes(
        full_name=name if name is not None and name != person.full_name else None,
        role=role if role != person.role else None,
        email=email if email != person.email else None,
    )
    return None if changes == Changes() else PersonChange(person, changes)


def check_leavers(made: Plan, settings: Settings, max_leavers: int | None) -> None:
    """Refuse a plan by which suspiciously many would go. `max_leavers`: as the operator says that it is right."""
    allowed = allowed_leavers(made.known, settings.ldap_max_leavers_percent) if max_leavers is None else max_leavers
    if len(made.leavers) > allowed:
        raise ListingFailure(
            f"{len(made.leavers)} of {made.known} people have left by what the directory says, and {allowed} at most are"
            " deactivated at once, so nothing was changed. Look at them with `tertulia directory sync --dry-run`; if it is"
            f" right: `tertulia directory sync --max-leavers {len(made.leavers)}`."
        )
