"""What a converter made of an export, read as those read it who read archives."""

import json
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

from tertulia.archives.converting.accounts import Outcome
from tertulia.archives.converting.report import Incidents
from tertulia.archives.loading.rules import check_rules
from tertulia.archives.loading.shifts import Spans
from tertulia.archives.reading.archive import open_archive
from tertulia.archives.reading.checking import check_archive

Json = dict[str, Any]


class Made(NamedTuple):
    """An archive, and what was said on the way to it."""

    outcome: Outcome
    lines: dict[str, list[Json]]
    blobs: dict[str, bytes]
    lost: dict[str, int]
    changed: dict[str, int]
    data: bytes

    def by(self, kind: str, key: str) -> dict[Any, Json]:
        return {line[key]: line for line in self.lines[kind]}

    def said_in(self, name: str) -> list[Json]:
        channel = self.by("channels", "name")[name]["id"]
        return [line for line in self.lines["messages"] if line["conversation_id"] == channel]

    def topic_of(self, message: Json) -> str:
        return str(self.by("topics", "id")[message["topic_id"]]["name"])

    def find(self, words: str) -> Json:
        [found] = [line for line in self.lines["messages"] if words in line["content"]]
        return found

    def pins(self) -> list[tuple[str, str, str]]:
        """What is pinned: the first word, when it was sent, and when it was pinned."""
        lines = [line for line in self.lines["messages"] if line["pinned"]]
        return [(line["content"].split()[0], line["sent"], line["pinned"]) for line in lines]

    def person(self, name: str) -> Json:
        return self.by("people", "full_name")[name]


def read_made(target: Path, outcome: Outcome, incidents: Incidents) -> Made:
    """From its first byte to its last, by the rules of whoever would import it."""
    with open_archive(target) as archive:
        spans = Spans()
        check_archive(archive, lambda _: None, spans.see)
        check_rules(archive, spans)
    lines: dict[str, list[Json]] = {}
    blobs = {}
    with tarfile.open(target) as tar:
        for member in tar:
            content = tar.extractfile(member)
            assert content is not None
            data = content.read()
            kind, _, rest = member.name.partition("/")
            if kind == "blobs":
                blobs[rest] = data
            elif rest:
                lines.setdefault(kind, []).extend(json.loads(line) for line in data.splitlines())
    return Made(outcome, lines, blobs, dict(incidents.lost), dict(incidents.changed), target.read_bytes())
