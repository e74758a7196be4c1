"""The form of the database, and which programs work with it.

A form has the number of the newest migration. A program knows its own: the newest migration it was shipped with. Migrations
only add, so that the version before goes on working on the new form (expand); what it no longer needs is taken away a version
later (contract). Each migration says in `works_with` the oldest form whose programs work on its result, and the database
remembers the greatest of these.

Every process asks where it connects (`check_form`), also if PostgreSQL comes later than it or goes away meanwhile, and whoever
asks whether it is ready hears of it too.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from tertulia import __version__

ASK = "select (select version_num from schema_version) as form, (select form from oldest_program) as oldest"
UNFINISHED_RESTORE: Final = "unfinished_restore"
"""A table that is there from when a restore begins in a database until all that belongs to it is done (backups/restoring.py)."""
_TABLES = f"""
select to_regclass('oldest_program') is not null as is_set_up, to_regclass('{UNFINISHED_RESTORE}') is not null as is_half
"""


class Standing(NamedTuple):
    """What a database says of itself."""

    form: str
    """Of its newest migration."""
    oldest: str
    """Programs of an older form do not work with it."""


class WrongForm(Exception):
    """This program and this database do not fit. The text says what to do."""


@cache
def own_form() -> str:
    """The form that this program was made for. Asked of the folder: Alembic takes half a second to be loaded."""
    folder = Path(__file__).parents[1] / "migrations" / "versions"
    return max(path.name[:4] for path in folder.glob("[0-9]*.py"))


def application_name(process: str = "") -> str:
    """How PostgreSQL names the connections of a program: who migrates sees whether one is there that would break."""
    return f"tertulia {process}{' ' if process else ''}{__version__} form {own_form()}"


async def check_form(connection: Any) -> None:
    """Refuse the database that this connection leads to, if this program does not work with it."""
    check(own_form(), await find_standing(connection))


def check(own: str, found: Standing | None) -> None:
    """Refuse a database that this program does not work with."""
    if found is None:
        raise WrongForm("the database is empty: run `tertulia migrate`")
    if found.form < own:
        raise WrongForm(
            f"the database has form {found.form} and this program is for {own}: run `tertulia migrate` with this program"
        )
    if found.oldest > own:
        raise WrongForm(
            f"this program is too old: it is for form {own} of the database, which has {found.form} and works with programs"
            f" for {found.oldest} or newer. Start the version that migrated it, or restore a backup from before"
        )


async def find_standing(connection: Any) -> Standing | None:
    """By an asyncpg connection; None: nobody has migrated it yet. Refuses a database that is half restored."""
    tables = await connection.fetchrow(_TABLES)
    if tables["is_half"]:
        raise WrongForm(
            "an archive was being restored into this database, and that did not end: give the command `tertulia restore` again"
        )
    if not tables["is_set_up"]:
        return None
    row = await connection.fetchrow(ASK)
    return Standing(row["form"], row["oldest"]) if row["form"] else None
