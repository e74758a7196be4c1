"""Files that an export only names: fetched from the one place where they are, into a folder that a second run finds.

Addresses come from the export, so they are strangers': only those at the source's own host are asked for, by the client that
calls nothing but the public internet, and no redirect is followed. A page to log in is no file: status, type and size must be
right. The token goes to that host alone, and is never told. A file is complete or not there, so whoever was stopped goes on.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tertulia.archives.errors import ArchiveFailed
from tertulia.kernel.outbound import Answer, Outbound, Unreachable, Wanted
from tertulia.kernel.urls import split_url

MOST_BYTES = 64 * 1024 * 1024
"""Of a file, which is held in memory."""
PAUSE_SECONDS = 0.1
"""Between two files."""
TRIES = 3
MOST_WAIT_SECONDS = 60.0
_KEY = re.compile(r"[A-Z0-9]{2,20}")
_SECRETS = re.compile(r"(?i)(^|&)(?:t|token|pub_secret|ex|is|hm)=[^&]*")
_PASSING = (408, 425, 429, 500, 502, 503, 504)
Told = Callable[[str, int, int], None]


class RemoteFile(NamedTuple):
    """A file as the export names it. `size`: 0 if it does not say."""

    key: str
    url: str
    size: int
    type: str


class Fetching:
    """Fetches files into a folder. `origin`: scheme and host of the one place that is asked."""

    def __init__(
        self, outbound: Outbound, folder: Path, origin: str, token: str = "", pause: float = PAUSE_SECONDS
    ) -> None:
        self._outbound = outbound
        self._folder = folder
        self._origin = split_url(origin)
        self._headers: Mapping[str, str] = {"Authorization": f"Bearer {token}"} if token else {}
        self._pause = pause
        self.failed: dict[str, str] = {}
        """Why a file could not be had, by its key."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise ArchiveFailed(f"{folder} cannot be made: {problem.strerror}.") from problem

    def found(self) -> dict[str, Path]:
        """What is there, by key."""
        return {path.name: path for path in sorted(self._folder.iterdir()) if _KEY.fullmatch(path.name)}

    async def fetch(self, files: Iterable[RemoteFile], told: Told) -> None:
        """Those that are not there yet."""
        there = self.found()
        missing = {file.key: file for file in files if file.key not in there and _KEY.fullmatch(file.key)}
        for place, file in enumerate(missing.values(), 1):
            problem = await self._one(file)
            if problem:
                self.failed[file.key] = problem
            told("fetching files", place, len(missing))
            await asyncio.sleep(self._pause)

    async def _one(self, file: RemoteFile) -> str:
        """Why it could not be had; nothing if it is there now."""
        try:
            parts = split_url(file.url)
        except ValueError as error:
            return f"it has no address: {error}"
        if (parts.scheme, parts.netloc) != (self._origin.scheme, self._origin.netloc):
            return "it is at another host"
        if file.size > MOST_BYTES:
            return f"it has more than {MOST_BYTES:,} bytes"
        problem = ""
        for _ in range(TRIES):
            try:
                answer = await self._outbound.get(file.url, self._headers, Wanted(most=MOST_BYTES))
            except Unreachable as error:
                problem = str(error)
                continue
            problem = _problem(answer, file)
            if not problem:
                self._keep(file.key, answer.body)
                return ""
            if answer.status not in _PASSING:
                return problem
            await asyncio.sleep(_wait(answer))
        return problem

    def _keep(self, key: str, content: bytes) -> None:
        half = self._folder / f"{key}.half"
        half.touch(0o600)
        half.write_bytes(content)
        half.replace(self._folder / key)


def _problem(answer: Answer, file: RemoteFile) -> str:
    type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.status != 200:
        return f"the answer was {answer.status}"
    if type == "text/html" and file.type != "text/html":
        return "the answer was a page, not the file: the credential may be revoked"
    if file.size and len(answer.body) != file.size:
        return f"it has {len(answer.body):,} bytes instead of {file.size:,}"
    return ""


def _wait(answer: Answer) -> float:
    after = answer.headers.get("retry-after", "")
    return min(float(after), MOST_WAIT_SECONDS) if after.isdecimal() else 1.0


def without_secrets(url: str) -> str:
    """An address as anybody may see it: exports put a credential into each."""
    try:
        parts = split_url(url)
        query = _SECRETS.sub("", parts.query).lstrip("&")
        return parts._replace(query=query, netloc=parts.netloc.rpartition("@")[2]).geturl()
    except ValueError:
        return ""
