"""Who may do what: the operator decides, and what an export says is a proposal. The one home of that rule."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tertulia.archives.converting.report import Incidents
from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.form.manifest import Manifest
from tertulia.kernel.auth import Role
from tertulia.kernel.mail_addresses import is_address
from tertulia.organization.notices.model import BOT_NAME
from tertulia.organization.realms.queries import NOTIFICATION_BOT_EMAIL

SPEAKER = 1
"""The id of who says what nobody said."""
ROLES = {role.name.lower(): role for role in Role}


@dataclass(frozen=True)
class Request:
    """What is to be converted, and how."""

    file: Path
    subdomain: str
    name: str = ""
    users: Path | None = None
    owner: str = ""
    users_template: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    manifest: Manifest
    read: int
    """Entries that could have become messages."""
    imported: int
    with_address: int
    """People who can claim their account by mail."""
    without_address: int
    merged: int
    proposed: dict[str, list[str]] = field(default_factory=dict)
    """Whom the export calls owner or administrator: the operator decides."""
    owner: str = ""


def decided(
    said: Role, wanted: str, where: str, incidents: Incidents, *, has_address: bool
) -> tuple[Role, Role | None]:
    """The role that somebody has here, and the one that the export proposes.

    `said`: by the export; what is more than a member is a proposal only. `wanted`: by the operator, who is obeyed unless
    nobody could claim the account.
    """
    if wanted:
        if ROLES[wanted] <= Role.ADMINISTRATOR and not has_address:
            incidents.change("roles that were not given, because nobody can claim the account", where)
            return Role.MEMBER, None
        return ROLES[wanted], None
    return (Role.MEMBER, said) if said < Role.MEMBER else (said, None)


def speaker(joined: datetime) -> kinds.Person:
    """The notification bot."""
    return kinds.Person(
        id=SPEAKER,
        email=NOTIFICATION_BOT_EMAIL,
        full_name=BOT_NAME,
        role=Role.MEMBER,
        joined=joined,
        bot=kinds.Bot(type=1, role=Role.MEMBER, system="notification"),
    )


def no_owner(address: str) -> ArchiveFailed:
    """Whoever the operator named is not there."""
    return ArchiveFailed(
        f"Nobody in the export who is active has the address {address}. Give somebody this address with --users."
    )


def read_users(file: Path) -> dict[str, dict[str, str]]:
    """The operator's table: `id`, and `email` or `role` or both. ArchiveFailed says what is wrong with it."""
    found: dict[str, dict[str, str]] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines), 2):
                plain_row = {(key or "").strip().lower(): (value or "").strip() for key, value in row.items() if key}
                if not plain_row.get("id"):
                    raise ArchiveFailed(f"{file}, line {number}: the column id is missing or empty.")
                if (role := plain_row.get("role", "").lower()) and role not in ROLES:
                    raise ArchiveFailed(f"{file}, line {number}: {role!r} is no role. Roles are {', '.join(ROLES)}.")
                if (email := plain_row.get("email", "")) and not is_address(email):
                    raise ArchiveFailed(f"{file}, line {number}: {email!r} is no mail address.")
                found[plain_row["id"]] = {"email": email, "role": role}
    except OSError as problem:
        raise ArchiveFailed(f"{file} cannot be read: {problem.strerror}.") from problem
    except (UnicodeDecodeError, csv.Error) as problem:
        raise ArchiveFailed(f"{file} is no CSV file in UTF-8: {problem}.") from problem
    return found


def write_users(file: Path, rows: Iterable[tuple[str, str, str | None, Role]]) -> None:
    """A table to look through and give back: who there is, and what the export says they are."""
    file.touch(0o600)
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines)
        table.writerow(["id", "name", "email", "role"])
        for id, name, email, role in rows:
            table.writerow([id, name.lstrip("=+-@\t\r"), email or "", role.name.lower()])
