"""Statements, rows and bytes of the write-ahead log that requests cost.

Statements are read from PostgreSQL's log, those of the web process alone. Rows and bytes are read from the write-ahead log
itself with pg_waldump: PostgreSQL's own counters come up to ten seconds late. Left out are images of whole pages, which
are due to the last checkpoint, what the relay notes once a second, and the pruning of pages: how full a page happens to be
hangs on what was written there before, so a case alone would have another figure than the same case after others.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LINE = re.compile(
    rb"^\S+ \S+ \S+ \[(\d+)\] LOG:  (?:duration: [\d.]+ ms  )?(parse|execute|statement|PLANNER)\b(?:: (BEGIN|COMMIT))?",
    re.MULTILINE,
)
_RECORD = re.compile(
    r"^rmgr: (?P<kind>\S+) +len \(rec/tot\): +(?P<length>\d+)/ *\d+, tx: +(?P<tx>\d+), "
    r"lsn: (?P<lsn>[0-9A-F/]+), prev \S+, desc: (?P<what>\S+)(?P<rest>.*)$"
)
_RELATION = re.compile(r"rel \d+/\d+/(\d+)")
_TUPLES = re.compile(r"ntuples: (\d+)")
_VERBS = {"INSERT": "inserted", "MULTI_INSERT": "inserted", "UPDATE": "updated", "HOT_UPDATE": "updated"}
_VERBS |= {"DELETE": "deleted"}


def lsn_number(text: str) -> int:
    """A place in the write-ahead log, as a number."""
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


class Asked(NamedTuple):
    """Statements between two places of PostgreSQL's log."""

    statements: int
    parsed: int
    """Those that PostgreSQL was given as text once more, to read and plan."""
    planned: int
    """Those that it planned, for the first time or anew."""
    commits: int
    in_commits: int
    """Statements of the transactions that were committed, from their begin on."""


def asked_by(log: bytes, pids: Collection[int]) -> Asked:
    statements = parsed = planned = commits = in_commits = 0
    begun: dict[bytes, int] = {}
    for pid, kind, word in _LINE.findall(log):
        if int(pid) not in pids:
            continue
        if kind == b"parse":
            parsed += 1
            continue
        if kind == b"PLANNER":
            planned += 1
            continue
        statements += 1
        if word == b"BEGIN":
            begun[pid] = 0
        if pid in begun:
            begun[pid] += 1
        if word == b"COMMIT" and pid in begun:
            commits += 1
            in_commits += begun.pop(pid)
    return Asked(statements, parsed, planned, commits, in_commits)


class Record(NamedTuple):
    """Of the write-ahead log."""

    lsn: int
    tx: int
    length: int
    relation: int
    """The number of its file; 0: of none."""
    verb: str
    rows: int


def read_records(program: Path, folder: Path, start: str, end: str) -> list[Record]:
    """All between two places. `program`: pg_waldump; `folder`: the cluster's."""
    command = [str(program), "-p", str(folder / "pg_wal"), "-s", start, "-e", end]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # It stops at the end of what was asked for, or of what is there, and may call the latter an error.
    if done.returncode and "could not find a valid record" not in done.stderr:
        raise RuntimeError(f"pg_waldump: {done.stderr[-1000:]}")
    return parse_records(done.stdout)


def parse_records(text: str) -> list[Record]:
    """Those in what pg_waldump prints, but for the pruning of pages (PRUNE, PRUNE_ON_ACCESS and the like)."""
    found = [match for line in text.splitlines() if (match := _RECORD.match(line))]
    return [_record(match) for match in found if not (match["kind"] == "Heap2" and match["what"].startswith("PRUNE"))]


def _record(match: re.Match[str]) -> Record:
    what = match["what"].partition("+")[0]
    verb = _VERBS.get(what, "") if match["kind"] in ("Heap", "Heap2") else ""
    relation = _RELATION.search(match["rest"])
    tuples = _TUPLES.search(match["rest"])
    rows = (int(tuples[1]) if tuples and what == "MULTI_INSERT" else 1) if verb else 0
    number = int(relation[1]) if relation else 0
    return Record(lsn_number(match["lsn"]), int(match["tx"]), int(match["length"]), number, verb, rows)


class Written(NamedTuple):
    rows: Counter[str]
    """By table and verb."""
    bytes: int


def written_by(records: Sequence[Record], tables: Mapping[int, str], start: int, end: int) -> Written:
    """What transactions wrote between two places, those of the relay left out. `tables`: names by number of the file."""
    relays = {record.tx for record in records if tables.get(record.relation, "").startswith("relay")}
    rows: Counter[str] = Counter()
    total = 0
    for record in records:
        if not start <= record.lsn < end or record.tx == 0 or record.tx in relays:
            continue
        total += record.length
        if record.verb:
            rows[f"{tables.get(record.relation, 'other')} {record.verb}"] += record.rows
    return Written(rows, total)
