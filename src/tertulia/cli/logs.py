"""Show the warnings and errors of child processes while their logs go to files."""

import json
from pathlib import Path

_QUIET = ("debug", "info")


class LogWatch:
    """The lines that were added to some log files since the last look, as far as a person should see them."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[Path, int]] = {}

    def add(self, name: str, path: Path) -> None:
        """Watch a file from its present end on."""
        self._files[name] = (path, path.stat().st_size if path.exists() else 0)

    def news(self) -> list[str]:
        found = []
        for name, (path, position) in self._files.items():
            if not path.exists() or path.stat().st_size == position:
                continue
            with path.open("rb") as file:
                file.seek(position)
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._files[name] = (path, position + len(whole))
            lines = whole.decode(errors="replace").splitlines()
            found += [f"{name}: {text}" for line in lines if (text := _for_people(line))]
        return found


def _for_people(line: str) -> str | None:
    """A structured line of a quiet level is left out; others lose what only machines need.

    Of a traceback only the last line is shown, the exception: the way to it is in the file.
    """
    try:
        entry = json.loads(line)
    except ValueError:
        return None if line.startswith((" ", "Traceback (")) else line.rstrip() or None
    if not isinstance(entry, dict):
        return line
    if entry.pop("level", "error") in _QUIET:
        return None
    event = entry.pop("event", "")
    for machine in ("timestamp", "process"):
        entry.pop(machine, None)
    trace = str(entry.pop("exception", "")).strip()
    details = "".join(f" {key}={value}" for key, value in entry.items())
    return f"{event}{details}" + (f": {trace.splitlines()[-1]}" if trace else "")
