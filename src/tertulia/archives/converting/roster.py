"""Who is who elsewhere: accounts by the ids they have there, and whoever is only spoken of."""

from dataclasses import dataclass
from datetime import datetime

from tertulia.archives.converting.accounts import SPEAKER, decided, speaker
from tertulia.archives.converting.known import MOST_NAMES_OF_BOTS, Known, address_of, make_owner, record_of
from tertulia.archives.converting.names import person_name
from tertulia.archives.converting.report import Incidents
from tertulia.archives.form import kinds
from tertulia.kernel.auth import Role


@dataclass
class Member(Known):
    """Somebody whose beginning may be known."""

    joined: datetime | None = None


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
        self._by_key: dict[str, Member] = {}
        self._by_address: dict[str, Member] = {}
        self._names_of_bots = 0
        self.all: list[Member] = []
        self.merged = 0

    def add(self, said: Said) -> int:
        """Somebody with an account there: their id here. Two with one address are one."""
        if said.key in self._by_key:
            return self._by_key[said.key].id
        email = None if said.is_bot else address_of(said.key, said.email, self._mapped, self._incidents)
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
        known = Member(SPEAKER + 1 + len(self.all), said.key, name, email, is_bot=said.is_bot)
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

    def _keep(self, known: Member) -> None:
        self.all.append(known)
        self._by_key[known.key] = known
        if known.email:
            self._by_address[known.email.lower()] = known

    # In the archive

    def choose_owner(self, address: str) -> None:
        """Whom the operator names."""
        make_owner(self._by_address.get(address.lower()), address)

    def records(self, began: datetime) -> list[kinds.Person]:
        """As the archive has them. `began`: of the organization."""
        return [speaker(began), *(record_of(known, known.joined or began) for known in self.all)]
