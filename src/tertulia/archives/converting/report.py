"""What did not come as it was: counted, and each case written to a file with where it was."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import IO, Any

import msgspec

SHOWN = 5
"""Examples of each sort that a summary has; the file has all."""


class Incidents:
    """Counts what is lost and what is changed. The cases lie on disk: there may be millions."""

    def __init__(self, folder: Path) -> None:
        self._cases: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115, closed with the report
        self.lost: Counter[str] = Counter()
        """Does not come."""
        self.changed: Counter[str] = Counter()
        """Comes, otherwise than it was."""
        self.examples: dict[str, list[str]] = {}

    def lose(self, what: str, where: str = "", why: str = "") -> None:
        """Something does not come."""
        self.lost[what] += 1
        self._write("lost", what, where, why)

    def change(self, what: str, where: str = "", detail: str = "") -> None:
        """Something comes otherwise."""
        self.changed[what] += 1
        self._write("changed", what, where, detail)

    def _write(self, kind: str, what: str, where: str, detail: str) -> None:
        case = {"kind": kind, "what": what, "where": _plain(where), "detail": _plain(detail)}
        examples = self.examples.setdefault(what, [])
        if len(examples) < SHOWN and (where or detail):
            examples.append(f"{case['where']} {case['detail']}".strip())
        self._cases.write(msgspec.json.encode(case) + b"\n")

    def save(self, file: Path, summary: dict[str, Any]) -> None:
        """The report: the summary in the first line, then one line for each case."""
        self._cases.seek(0)
        file.touch(0o600)
        with file.open("wb") as target:
            target.write(msgspec.json.encode(summary) + b"\n")
            while piece := self._cases.read(1024 * 1024):
                target.write(piece)

    def close(self) -> None:
        """The cases are gone."""
        self._cases.close()


def _plain(text: str) -> str:
    return text[:500].encode(errors="replace").decode()
