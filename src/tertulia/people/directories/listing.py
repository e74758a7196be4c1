"""Everybody in the directory, and what they belong to there: read whole, in pages, or not at all.

Half an answer would look as if the other half had left. So a search counts only if its last page came and says success: what a
size or time limit cut off is an error.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from tertulia.kernel.settings import Settings, SettingsError
from tertulia.people.logins.directory import BY_NAME, LdapDirectory, Measure, values_of

PAGE = 500
MAX_ENTRIES = 500_000
"""Some directories begin anew after their last page."""
PAGES = "1.2.840.113556.1.4.319"
"""The control for results in pages (RFC 2696)."""
SUCCESS = 0
LIMITS = (3, 4, 11)
"""Time, size or administrative limit exceeded."""
NO_SUCH_ENTRY = 32


class ListingFailure(Exception):
    """The directory did not say who is in it; the text is for the operator."""


class ListedPerson(msgspec.Struct, frozen=True):
    """Somebody in the directory."""

    id: str
    email: str
    full_name: str
    is_disabled: bool
    belongs: frozenset[str]
    """Those `where` of the memberships that are true of them."""


class Listed(msgspec.Struct, frozen=True):
    """All that a directory says."""

    people: list[ListedPerson]
    unread: dict[str, str]
    """Those `where` of the memberships that nothing is known of this time, and why: they decide nothing."""


class DirectoryListing(LdapDirectory):
    """The directory of one organization, to be read whole."""

    measure = Measure(1800.0, 512 * 1024 * 1024)

    def __init__(self, settings: Settings) -> None:
        if not settings.ldap_url:
            raise SettingsError("There is no directory: ldap_url is empty.")
        super().__init__(settings)
        if not settings.ldap_search_base:
            raise SettingsError(
                "To compare people with the directory, set ldap_search_base, and ldap_bind_dn if need be."
            )

    async def read(self) -> Listed:
        """All people of the directory, and what they belong to."""
        try:
            return await self._threads.run(self._read_all)
        except self._ldap.core.exceptions.LDAPException as error:
            raise ListingFailure(f"The directory at {self._settings.ldap_url} cannot be asked: {error}") from error

    def _read_all(self) -> Listed:
        chosen = self._settings
        inside: dict[str, set[str]] = {}
        unread: dict[str, str] = {}
        with self._connect(chosen.ldap_bind_dn, chosen.ldap_bind_password) as connection:
            self._bind(connection)
            entries = list(self._pages(connection, chosen.ldap_people_filter, [*self._attributes(), "uid"]))
            disabled = self._matching(connection, chosen.ldap_disabled_filter) if chosen.ldap_disabled_filter else set()
            for where in {membership.where for membership in chosen.ldap_memberships}:
                try:
                    inside[where] = self._inside(connection, where)
                except ListingFailure as failure:
                    unread[where] = str(failure)
        return Listed([self._listed(entry, disabled, inside) for entry in entries], unread)

    def _listed(self, entry: dict[str, Any], disabled: set[str], inside: dict[str, set[str]]) -> ListedPerson:
        person, name = self._person_of(entry), self._key(entry["dn"])
        names = {name, *(_uid_key(value) for value in values_of(entry, "uid"))}
        belongs = frozenset(where for where, members in inside.items() if members & names)
        return ListedPerson(person.id, person.email, person.full_name, name in disabled, belongs)

    def _inside(self, connection: Any, where: str) -> set[str]:
        """Who is in a group: by a filter about people, or as the group's own entry has it."""
        return self._matching(connection, where) if where.startswith("(") else self._members(connection, where)

    def _matching(self, connection: Any, also: str) -> set[str]:
        both = f"(&{self._settings.ldap_people_filter}{also})"
        return {self._key(entry["dn"]) for entry in self._pages(connection, both, ["1.1"])}

    def _members(self, connection: Any, name: str) -> set[str]:
        attributes = ["member", "uniqueMember", "memberUid"]
        self._heard(connection.search, name, "(objectClass=*)", search_scope=self._ldap.BASE, attributes=attributes)
        _check(connection.result, f"the group {name}")
        entries = [entry for entry in connection.response if entry["type"] == "searchResEntry"]
        if not entries:
            raise ListingFailure(f"The directory does not show the group {name}.")
        if any(key.lower().startswith("member;range=") for key in entries[0]["raw_attributes"]):
            raise ListingFailure(
                f"The group {name} is too large for the directory to list: write (memberOf={name}) instead of its name."
            )
        named = [*values_of(entries[0], "member"), *values_of(entries[0], "uniqueMember")]
        return {
            *(self._key(value.decode(errors="replace")) for value in named),
            *(_uid_key(value) for value in values_of(entries[0], "memberUid")),
        }

    def _pages(self, connection: Any, wanted: str, attributes: list[str]) -> Iterator[dict[str, Any]]:
        cookie: bytes | None = None
        count = 0
        while True:
            self._heard(
                connection.search,
                self._settings.ldap_search_base,
                wanted,
                search_scope=self._ldap.SUBTREE,
                attributes=attributes,
                paged_size=PAGE,
                paged_criticality=True,
                paged_cookie=cookie,
            )
            _check(connection.result, f"the people of {wanted}")
            count += len(connection.response)
            if count > MAX_ENTRIES:
                raise ListingFailure(f"The directory goes on after {MAX_ENTRIES:,} entries of {wanted}.")
            yield from (entry for entry in connection.response if entry["type"] == "searchResEntry")
            control = connection.result.get("controls", {}).get(PAGES)
            cookie = control["value"]["cookie"] if control else None
            if not cookie:
                return

    def _key(self, name: str) -> str:
        """A name of an entry, so that its spellings are the same."""
        try:
            parts = self._ldap.utils.dn.parse_dn(name, strip=True)
        except self._ldap.core.exceptions.LDAPInvalidDnError:
            return name.lower()
        return ",".join(f"{attribute}={value}{'+' * (end == '+')}" for attribute, value, end in parts).lower()


def has_own_id(id: str) -> bool:
    """Whether the entry had an id, and not only a name."""
    return not id.startswith(BY_NAME)


def _uid_key(value: bytes) -> str:
    """The user name of somebody in a group that lists those; no name of an entry looks so."""
    return f"uid {value.decode(errors='replace').lower()}"


def _check(result: dict[str, Any], what: str) -> None:
    if result["result"] in LIMITS:
        raise ListingFailure(
            f"The directory gives only a part of {what} ({result['description']}): raise its limit for whoever reads it."
        )
    if result["result"] == NO_SUCH_ENTRY:
        raise ListingFailure(f"The directory has no such entry, or does not show it: {what}.")
    if result["result"] != SUCCESS:
        raise ListingFailure(
            f"The directory does not list {what}: {result['description']} {result['message']}".rstrip()
        )
