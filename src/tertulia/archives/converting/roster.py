"""Who is who elsewhere: accounts by the ids they have there, and whoever is only spoken of."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tertulia.archives.converting.accounts import SPEAKER, decided, no_owner, speaker
from tertulia.archives.converting.names import person_name
from tertulia.archives.converting.report import Incidents
from tertulia.archives.form import kinds
from tertulia.kernel.auth import Role
from tertulia.kernel.mail_addresses import is_address

MOST_NAMES_OF_BOTS = 500
"""Some integrations have another name in each message: from here on they share one account."""


@dataclass
class Known:
    """Somebody, as far as the export says."""

    id: int
    key: str
    name: str
    email: str | None = None
    role: Role = Role.MEMBER
    proposed: Role | None = None
    """What the export says, if it is more than a member: the operator decides."""
    is_active: bool = True
    is_bot: bool = False
    joined: datetime | None = None
    status: kinds.Status | None = None


@dataclass(frozen=True)
class Said:
    """What an export says of somebody."""

    key: str
    name: str
    email: str = ""
    role: Role = Role.MEMBER
    is_active: bool = True
    is_bot: bool = False
    joined: datetime | None = None
    status: kinds.Status | None = None


class Roster:
    """Everybody. The operator's table goes before what the export says."""

    def __init__(self, incidents: Incidents, mapped: dict[str, dict[str, str]]) -> None:
        self._incidents = incidents
        self._mapped = mapped
        self._by_key: dict[str, Known] = {}
        self._by_address: dict[str, Known] = {}
        self._names_of_bots = 0
        self.all: list[Known] = []
        self.merged = 0

    def add(self, said: Said) -> int:
        """Somebody with an account there: their id here. Two with one address are one."""
        if said.key in self._by_key:
            return self._by_key[said.key].id
        email = None if said.is_bot else self._address(said.key, said.email)
        known = self._by_address.get(email.lower()) if email else None
        if known is not None:
            self._incidents.change("people with the same address became one", said.key, f"{email}: {known.key}")
            self.merged += 1
            known.is_active |= said.is_active
            self._by_key[said.key] = known
            return known.id
        name = person_name(said.name, f"Unknown {said.key[:40]}")
        if name != said.name.strip():
            self._incidents.change(
                "names of people that could not stay as they were", said.key, f"{said.name} -> {name}"
            )
        known = Known(SPEAKER + 1 + len(self.all), said.key, name, email, is_bot=said.is_bot)
        known.is_active, known.joined, known.status = said.is_active, said.joined, said.status
        if not said.is_bot:
            wanted = self._mapped.get(said.key, {}).get("role", "")
            known.role, known.proposed = decided(
                said.role, wanted, said.key, self._incidents, has_address=email is not None
            )
        self._keep(known)
        return known.id

    def find(self, key: str) -> int | None:
        """Somebody's id here, if they are known."""
        known = self._by_key.get(key)
        return None if known is None else known.id

    def stranger(self, key: str, name: str) -> int:
        """Somebody who is in no list: they were erased there, or left. An account without a way in, unless the operator
        knows an address."""
        known = self._by_key.get(key)
        if known is not None:
            return known.id
        self._incidents.change("people who are not in the list of the export", key, name)
        return self.add(Said(key, name or f"Unknown {key[:40]}", is_active=False))

    def bot(self, name: str) -> int:
        """An integration, by the name that it shows."""
        key = f"bot/{name}"
        if key not in self._by_key and self._names_of_bots >= MOST_NAMES_OF_BOTS:
            key, name = "bot/", "Integration"
        if key not in self._by_key:
            self._names_of_bots += 1
            self._incidents.change("integrations became bots without a key", name)
            self.add(Said(key, name or "Integration", is_bot=True))
        return self._by_key[key].id

    def _keep(self, known: Known) -> None:
        self.all.append(known)
        self._by_key[known.key] = known
        if known.email:
            self._by_address[known.email.lower()] = known

    def _address(self, key: str, said: str) -> str | None:
        email = self._mapped.get(key, {}).get("email") or said.strip()
        if not email or (is_address(email) and len(email) >= 3):
            return email or None
        self._incidents.change("addresses that are none: left out", key, email)
        return None

    # In the archive

    def humans(self) -> list[Known]:
        """All but bots."""
        return [known for known in self.all if not known.is_bot]

    def rows(self) -> Iterator[tuple[str, str, str | None, Role]]:
        """For the operator's table."""
        return ((one.key, one.name, one.email, one.proposed or one.role) for one in self.humans())

    def proposed(self) -> dict[str, list[str]]:
        """Whom the export gives more power than a member has, and the operator has not."""
        found: dict[str, list[str]] = {}
        for known in self.humans():
            if known.proposed is not None and known.role is Role.MEMBER:
                found.setdefault(known.proposed.name.lower(), []).append(known.email or known.key)
        return found

    def choose_owner(self, address: str) -> None:
        """The operator says who: what the export says is a proposal only."""
        known = self._by_address.get(address.lower())
        if known is None or not known.is_active:
            raise no_owner(address)
        known.role = Role.OWNER

    def records(self, began: datetime) -> list[kinds.Person]:
        """As the archive has them. `began`: of the organization."""
        return [speaker(began), *(_record(known, began) for known in self.all)]


def _record(known: Known, began: datetime) -> kinds.Person:
    return kinds.Person(
        id=known.id,
        email=known.email,
        full_name=known.name,
        role=known.role,
        is_active=known.is_active,
        is_imported_stub=not known.is_bot,
        joined=known.joined or began,
        status=known.status if known.is_active else None,
        bot=kinds.Bot(type=1, role=Role.MEMBER) if known.is_bot else None,
    )
