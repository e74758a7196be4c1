"""What a command tells the operator in one line instead of a traceback."""

import errno

_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
"""What any write may come to, also one that does not say where."""


class CommandFailed(Exception):
    """The text says what is wrong and what to do."""


def explain(problem: Exception) -> str | None:
    """The one line that helps the operator; None: nobody expected this. Asked only after a failure, so a good start imports
    nothing for it."""
    from tertulia.archives.errors import ArchiveFailed
    from tertulia.backups.errors import BackupFailed
    from tertulia.content.storage import StoreUnavailable
    from tertulia.engines.errors import EngineFailed, EngineMissing
    from tertulia.kernel.errors import Refusal
    from tertulia.kernel.form import WrongForm
    from tertulia.kernel.sealing import CannotOpen
    from tertulia.kernel.settings import SettingsError

    if isinstance(problem, Refusal):
        return problem.msg  # without its code
    told = (ArchiveFailed, BackupFailed, CannotOpen, CommandFailed, EngineFailed, EngineMissing, SettingsError)
    if isinstance(problem, told):
        return str(problem)
    if isinstance(problem, StoreUnavailable):
        return f"The storage does not do what is asked of it: {problem}"
    if isinstance(problem, WrongForm):
        return f"This does not run: {problem}."
    return _of_files(problem) or _of_postgres(problem)


def is_of_files(problem: OSError) -> bool:
    """Whether it is about a file or a disk, and not about a connection."""
    return problem.filename is not None or problem.errno in _OF_THE_DISK


def _of_files(problem: Exception) -> str | None:
    """What the machine says of a file: of one that was named, or of one that is written."""
    if not isinstance(problem, OSError) or not is_of_files(problem):
        return None
    return f"{problem.strerror}." if problem.filename is None else f"{problem.filename}: {problem.strerror}."


def _of_postgres(problem: Exception) -> str | None:
    """What PostgreSQL itself says of a door that is closed, a database that is not there or not set up."""
    import asyncpg
    import psycopg2
    import sqlalchemy.exc

    found = problem.orig if isinstance(problem, sqlalchemy.exc.DBAPIError) else problem
    if isinstance(found, (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError)):
        return _told(found, "does TERTULIA_POSTGRES_URL say which database, which account and which password?")
    if isinstance(found, asyncpg.UndefinedTableError):
        return _told(found, "run `tertulia migrate`")
    if isinstance(found, psycopg2.Error) and "extension" in str(found):
        return _told(found, "install PostgreSQL's contrib package, or let a superuser create the extension pg_trgm")
    if isinstance(found, psycopg2.OperationalError):
        return _told(found, "is it running, and does TERTULIA_POSTGRES_URL say where, and with which password?")
    if isinstance(found, psycopg2.errors.InsufficientPrivilege):
        return _told(found, "the account must own its database")
    return None


def _told(problem: object, advice: str) -> str:
    text = str(problem).strip().splitlines()[0]
    return f"PostgreSQL: {text} -- {advice}"
