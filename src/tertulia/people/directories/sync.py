"""Bringing accounts in line with the directory: by the worker now and then, or by the operator's command.

What is different is found without holding anything. Then each person has a transaction of their own, in which it is looked at
again under the locks that every other change takes; groups change in portions. So it may stop anywhere, and the next time does
the rest. Whatever goes wrong with one person, the others are brought in line all the same: somebody who keeps their own account
busy would otherwise stay, with all who were to leave after them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import structlog

from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.actions import Edit, place_members
from tertulia.organization.groups.queries import direct_members, groups_by_name
from tertulia.organization.realms.queries import Realm, find_realm
from tertulia.people.directories import queries
from tertulia.people.directories.listing import DirectoryListing, ListingFailure
from tertulia.people.directories.planning import Groups, Leaver, PersonChange, Placement, Plan, check_leavers, plan
from tertulia.people.directories.queries import KnownPerson
from tertulia.people.users.actions import change_by_directory
from tertulia.people.users.activation import deactivate_by_directory

log = structlog.get_logger()

PORTION = 500
"""People who are put into a group, or taken out, in one transaction and one event."""


class Step(msgspec.Struct, frozen=True):
    """One change that was made, or could not be."""

    kind: str
    """`leaver`, `change`, `group` or `problem`."""
    text: str
    user_id: int | None = None


class DirectorySync:
    """Compares the accounts of one organization with its directory."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._listing: DirectoryListing | None = None

    async def sync_when_due(self) -> int:
        """Bring all in line, if it is time; returns how many changes were made. Work of the worker."""
        if not self._settings.ldap_url or not self._settings.ldap_sync_minutes:
            return 0
        realm = await self._find_realm()
        if realm is None or not realm.is_active or realm.facts.notes.frozen:
            return 0
        async with self._database.transaction() as tx:
            if not await queries.claim_sync(tx, realm.id, self._settings.ldap_sync_minutes):
                return 0
        count = 0
        try:
            made = await self.plan(realm)
            check_leavers(made, self._settings, None)
        except ListingFailure as failure:
            log.error("accounts were not compared with the directory", why=str(failure))
            return 0
        async for step in self.carry_out(realm, made):
            count += step.kind != "problem"
            # Not the text: logs go to more people than addresses should.
            log.info("as the directory says", kind=step.kind, user_id=step.user_id)
        return count

    async def get_realm(self) -> Realm:
        """The organization whose people are in the directory."""
        realm = await self._find_realm()
        if realm is None:
            raise Refusal(f"There is no organization at the subdomain {self._settings.ldap_realm!r} (ldap_realm).")
        return realm

    async def _find_realm(self) -> Realm | None:
        async with self._database.reader() as reader:
            return await find_realm(reader, self._settings.ldap_realm)

    async def plan(self, realm: Realm) -> Plan:
        """What is different. Raises ListingFailure if the directory does not say enough."""
        if self._listing is None:
            self._listing = DirectoryListing(self._settings)
        # Accounts first: who logs in for the first time while the directory is being read has not left it.
        names = {membership.group for membership in self._settings.ldap_memberships if membership.group}
        async with self._database.reader() as reader:
            known = await queries.known_people(reader, realm.id)
            ids = await groups_by_name(reader, realm.id, names)
            members = await direct_members(reader, list(ids.values()))
        listed = await self._listing.read()
        groups = Groups(ids, {id: set(users) for id, users in members.items()})
        # Tens of thousands take seconds, and where web and worker are one process everybody would wait for them.
        return await asyncio.to_thread(plan, self._settings, listed, known, groups)

    async def carry_out(self, realm: Realm, made: Plan) -> AsyncIterator[Step]:
        """Do all of it; says what was done, and what was not possible."""
        for problem in made.problems:
            yield Step("problem", problem)
        again: list[Leaver] = []
        for leaver in made.leavers:
            try:
                if await self._turn_off(realm, leaver):
                    yield Step("leaver", f"{leaver.person.email}: {leaver.why}", leaver.person.id)
            except Refusal:
                again.append(leaver)
        async for step in self._change_all(realm, made.changes):
            yield step
        for placement in made.placements:
            async for step in self._place(realm, placement):
                yield step
        for leaver in again:  # whoever was busy may not be any more
            person = leaver.person
            try:
                if await self._turn_off(realm, leaver):
                    yield Step("leaver", f"{person.email}: {leaver.why}", person.id)
            except Refusal as refusal:
                yield Step("problem", f"{person.email} is {leaver.why}, but stays: {refusal.msg}", person.id)

    async def _turn_off(self, realm: Realm, leaver: Leaver) -> bool:
        async with _for_itself(self._database) as tx:
            return await deactivate_by_directory(tx, realm.id, leaver.person.id)

    async def _change_all(self, realm: Realm, changes: Sequence[PersonChange]) -> AsyncIterator[Step]:
        """An address that somebody gives up may be the next one's: who cannot have theirs yet is tried once more."""
        again: list[PersonChange] = []
        for change in changes:
            try:
                if await self._change(realm, change):
                    yield Step("change", describe(change), change.person.id)
            except Refusal:
                again.append(change)
        for change in again:
            try:
                if await self._change(realm, change):
                    yield Step("change", describe(change), change.person.id)
            except Refusal as refusal:
                yield Step("problem", f"{describe(change)}: not possible: {refusal.msg}", change.person.id)

    async def _change(self, realm: Realm, change: PersonChange) -> bool:
        unique = realm.settings.require_unique_names
        async with _for_itself(self._database) as tx:
            return await change_by_directory(tx, realm.id, change.person.id, change.changes, unique_names=unique)

    async def _place(self, realm: Realm, placement: Placement) -> AsyncIterator[Step]:
        everybody = [*placement.add, *placement.remove]
        people = {person.id: person for person in everybody}
        coming = {person.id for person in placement.add}
        for start in range(0, len(everybody), PORTION):
            portion = [person.id for person in everybody[start : start + PORTION]]
            edit = Edit(
                add=[user_id for user_id in portion if user_id in coming],
                remove=[user_id for user_id in portion if user_id not in coming],
            )
            try:
                async with _for_itself(self._database) as tx:
                    done = await place_members(tx, realm.id, placement.group_id, edit)
            except Refusal as refusal:
                yield Step("problem", f"The group {placement.name} cannot be changed: {refusal.msg}")
                return
            for user_id in done.add or ():
                yield Step("group", describe_place(people[user_id], placement.name, inside=True), user_id)
            for user_id in done.remove or ():
                yield Step("group", describe_place(people[user_id], placement.name, inside=False), user_id)


@asynccontextmanager
async def _for_itself(database: Database) -> AsyncIterator[Transaction]:
    """A transaction of one change, which is refused whatever goes wrong with it, but for a database that is away."""
    try:
        async with database.transaction() as tx:
            tx.respect_freeze()
            yield tx
    except (*LOST, Refusal):
        raise
    except Exception as error:
        log.exception("a change that the directory asks for could not be made")
        raise Refusal(f"it could not be done now ({type(error).__name__}).") from error


def describe_all(made: Plan) -> list[Step]:
    """What would be done."""
    return [
        *(Step("problem", problem) for problem in made.problems),
        *(Step("leaver", f"{leaver.person.email}: {leaver.why}", leaver.person.id) for leaver in made.leavers),
        *(Step("change", describe(change), change.person.id) for change in made.changes),
        *(
            Step("group", describe_place(person, placement.name, inside=inside), person.id)
            for placement in made.placements
            for people, inside in ((placement.add, True), (placement.remove, False))
            for person in people
        ),
    ]


def describe(change: PersonChange) -> str:
    """A change in a line."""
    old, new = change.person, change.changes
    pairs = (("name", old.full_name, new.full_name), ("address", old.email, new.email), ("role", old.role, new.role))
    return f"{old.email}: " + ", ".join(f"{what} {was} -> {now}" for what, was, now in pairs if now is not None)


def describe_place(person: KnownPerson, group: str, *, inside: bool) -> str:
    """A place in a group in a line."""
    return f"{person.email}: {'into' if inside else 'out of'} the group {group}"
