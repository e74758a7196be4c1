"""Mails that people are promised: an invitation that was answered is in the mail, whatever happens to the workers.

A worker that dies between handing a mail over and writing that down leaves it to be sent again: that is counted, and right.
"""

import asyncio
import time
from collections import Counter
from pathlib import Path

from tests.system.model_client import Mismatch


class Invitations:
    """Addresses that were invited, and the folder where their mails go."""

    def __init__(self, folder: Path, realm: str) -> None:
        self._folder = folder
        self._realm = realm
        self._count = 0
        self.promised: set[str] = set()

    def new_address(self) -> str:
        self._count += 1
        return f"guest{self._count}.{self._realm}@example.com"

    def sent(self) -> Counter[str]:
        """How often each address has been written to. The name of a file is the number of the mail and its address."""
        names = [path.stem.partition("-")[2] for path in self._folder.glob("*.eml")]
        return Counter(name[name.index("guest") :] for name in names if "guest" in name and self._realm in name)

    async def check(self, seconds: float = 60) -> None:
        """All that were promised have come, soon."""
        deadline = time.monotonic() + seconds
        while missing := self.promised - self.sent().keys():
            if time.monotonic() > deadline:
                raise Mismatch(f"invited, and no mail came: {sorted(missing)[:5]} of {len(missing)}")
            await asyncio.sleep(0.2)
