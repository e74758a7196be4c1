"""Somebody whom an export knows: what is the same of them in every source, and what the archive and the outcome say of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tertulia.archives.converting.accounts import Outcome, Request, no_owner
from tertulia.archives.converting.composing import Tally
from tertulia.archives.converting.report import Incidents
from tertulia.archives.form import kinds
from tertulia.archives.form.manifest import Manifest
from tertulia.kernel.auth import Role
from tertulia.kernel.mail_addresses import is_address

NO_MAIL = ".invalid"
MOST_NAMES_OF_BOTS = 500
"""Some integrations have another name in each message: from here on they share an account."""


@dataclass
class Known:
    """Somebody, as far as the export says. `key`: what the source calls them by."""

    id: int
    key: str
    name: str
    email: str | None = None
    role: Role = Role.MEMBER
    proposed: Role | None = None
    """What the export says, if it is more than a member: the operator decides."""
    is_active: bool = True
    is_bot: bool = False
    status: kinds.Status | None = None


def address_of(key: str, said: str, mapped: Mapping[str, Mapping[str, str]], incidents: Incidents) -> str | None:
    """By the operator's table, or by the export; what is no address is left out and counted. No mail reaches those that end
    so, and some are made here for accounts without one: whoever chose such a one would keep everybody from coming."""
    email = (mapped.get(key, {}).get("email") or said).strip()
    if not email or (is_address(email) and len(email) >= 3 and not email.lower().endswith(NO_MAIL)):
        return email or None
    incidents.change("addresses that are none: left out", key, email)
    return None


def make_owner(known: Known | None, address: str) -> None:
    """The operator says who: what the export says is a proposal only."""
    if known is None or not known.is_active:
        raise no_owner(address)
    known.role = Role.OWNER


def record_of(known: Known, joined: datetime) -> kinds.Person:
    """As the archive has them; some sources know more."""
    return kinds.Person(
        id=known.id,
        email=known.email,
        full_name=known.name,
        role=known.role,
        is_active=known.is_active,
        is_imported_stub=not known.is_bot,
        joined=joined,
        status=known.status if known.is_active else None,
        bot=kinds.Bot(type=1, role=Role.MEMBER) if known.is_bot else None,
    )


def profile_fields(people: Sequence[Known], fields: Mapping[str, str]) -> list[kinds.ProfileField]:
    """Those that somebody has filled in. `fields`: their names by the attributes they are in."""
    return [
        kinds.ProfileField(id=place, type=1, name=name, position=place)
        for place, (key, name) in enumerate(fields.items(), 1)
        if any(getattr(known, key) for known in people)
    ]


def profile_of(known: Known, fields: Mapping[str, str]) -> list[kinds.ProfileValue]:
    """What somebody has filled in."""
    return [
        kinds.ProfileValue(field_id=place, value=getattr(known, key))
        for place, key in enumerate(fields, 1)
        if getattr(known, key)
    ]


def table_of(people: Sequence[Known]) -> Iterator[tuple[str, str, str | None, Role]]:
    """For the operator to look through."""
    return ((one.key, one.name, one.email, one.proposed or one.role) for one in people if not one.is_bot)


def outcome_of(manifest: Manifest, request: Request, people: Sequence[Known], tally: Tally, merged: int) -> Outcome:
    """What came of it."""
    humans = [known for known in people if not known.is_bot]
    proposed: dict[str, list[str]] = {}
    for known in humans:
        if known.proposed is not None and known.role is Role.MEMBER:
            proposed.setdefault(known.proposed.name.lower(), []).append(known.email or known.key)
    return Outcome(
        manifest=manifest,
        read=tally.read,
        imported=tally.imported,
        with_address=sum(known.email is not None for known in humans),
        without_address=sum(known.email is None for known in humans),
        merged=merged,
        proposed=proposed,
        owner=request.owner,
    )
