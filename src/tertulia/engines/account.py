"""Who PostgreSQL runs as. It refuses to run as root, so a root parent gives it an ordinary account."""

import os
import pwd
import stat
from pathlib import Path
from typing import NamedTuple

_NOBODY = 65_534


class Account(NamedTuple):
    name: str
    uid: int
    gid: int


def engine_account() -> Account | None:
    """None: run as who we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    return Account("nobody", _NOBODY, _NOBODY)


def find_barrier(path: Path, account: Account | None) -> Path | None:
    """The first folder on the way to `path` that the account cannot pass; None when the way is free."""
    if account is None:
        return None
    for folder in reversed(path.absolute().parents):
        if not folder.exists():
            return None  # we shall make the rest ourselves
        if not _may_pass(folder, account):
            return folder
    return None


def _may_pass(folder: Path, account: Account) -> bool:
    facts = folder.stat()
    if facts.st_uid == account.uid:
        return bool(facts.st_mode & stat.S_IXUSR)
    if facts.st_gid == account.gid:
        return bool(facts.st_mode & stat.S_IXGRP)
    return bool(facts.st_mode & stat.S_IXOTH)
