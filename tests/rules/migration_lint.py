"""What a migration must not do while the version before runs on the same database.

squawk knows PostgreSQL's statements: which rewrite a table, hold a lock for long, or break programs. What it leaves out is
here: rows changed in one piece, and which programs a migration says to work with.
"""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

TASTE = (
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-robust-stmts",
    "prefer-text-field",
    "prefer-timestamp-tz",
    "prefer-identity",
    "require-timeout-settings",
    "require-lock-timeout",
    "require-statement-timeout",
)
"""Of style, or of limits that migrations/env.py sets for all of them."""
BREAKING = ("ban-drop-column", "ban-drop-table", "ban-drop-function", "renaming-column", "renaming-table")
"""What only a migration may do that no longer works with older programs, and says so."""
WHOLE = re.compile(r"^\s*(update|delete)\b", re.MULTILINE | re.IGNORECASE)
ALONE = re.compile(r"\bconcurrently\b|\blimit\b", re.IGNORECASE)
BODY = re.compile(r"\$\$.*?\$\$", re.DOTALL)


def faults(sql: str, *, alone: bool = False, may_break: bool = False) -> list[str]:
    """What is wrong with statements of one transaction, or with one that stands alone."""
    excluded = [*TASTE, *(BREAKING if may_break else ())]
    command = [
        str(Path(sys.executable).with_name("squawk")),
        *("--pg-version=15", "--reporter=gcc", "--stdin-filepath=migration.sql"),
        *(() if alone else ("--assume-in-transaction",)),
        f"--exclude={','.join(excluded)}",
    ]
    done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    found = [line.partition(": ")[2] for line in done.stdout.splitlines() if line.strip()]
    if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
        raise RuntimeError(done.stderr)
    if not alone and WHOLE.search(BODY.sub("", sql)):
        found.append("rows changed in one transaction: change them in batches, in a migration of REPEATABLE statements")
    return found


def faults_of(migration: ModuleType, greatest_before: str) -> list[str]:
    """What is wrong with a migration. `greatest_before`: the oldest form that those before it work with."""
    sql = getattr(migration, "SQL", None)
    statements = getattr(migration, "REPEATABLE", None)
    if (sql is None) == (statements is None):
        return ["a migration has SQL, or it has REPEATABLE statements"]
    works_with = migration.works_with
    found = []
    if not greatest_before <= works_with <= migration.revision:
        found.append(f"works_with is {works_with}: not before {greatest_before}, and not after itself")
    may_break = works_with > greatest_before
    if sql is not None:
        return found + faults(sql, may_break=may_break)
    for statement in statements or ():
        if not ALONE.search(statement):
            found.append(f"nothing in it needs to stand alone: {statement.strip()[:60]}")
        found += faults(statement, alone=True, may_break=may_break)
    return found
