"""How many seconds the files of tests took, by which a suite is dealt out to its shares.

    .venv/bin/python -m tests.check.seconds    writes seconds.json anew, from what the last bin/check left in .check/

It need not be exact, nor current: it decides how evenly the lanes are filled, and nothing else.
"""

import json
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
LEFT = Path(__file__).parents[2] / ".check"
LEAST = 2.0
"""Seconds: files that took less are not worth a line."""


def recorded_seconds() -> dict[str, float]:
    """By file."""
    found: dict[str, float] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def main() -> None:
    seconds: dict[str, float] = {}
    for report in sorted(LEFT.glob("*.json")):
        if not report.stem.endswith("-again"):
            said = json.loads(report.read_text())
            seconds |= said.get("seconds", {}) if isinstance(said, dict) else {}
    kept = {file: round(took) for file, took in sorted(seconds.items()) if took >= LEAST}
    FILE.write_text(json.dumps(kept, indent=0) + "\n")
    print(f"{FILE.name}: {len(kept)} files")


if __name__ == "__main__":
    main()
