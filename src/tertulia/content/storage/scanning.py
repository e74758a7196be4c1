"""Malware scanning by a hook: what comes from outside passes a scanner that speaks clamd's INSTREAM protocol.

Invariants:
- Bytes are handed on as they come, so a scan takes no memory and no second pass. The last word is the scanner's: it is asked
  before the end is handed on, and whoever stores then stores nothing.
- A scanner that is away, slow or refuses to look is treated as the operator says (`malware_scanner_away`), never as "clean".
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from dataclasses import dataclass

import structlog

from tertulia.kernel.errors import Refusal, server_not_ready
from tertulia.kernel.settings import Settings
from tertulia.kernel.urls import split_url

log = structlog.get_logger()

SECONDS = 30.0
"""How long the scanner may take to connect, to take a piece, and to judge."""
PIECE = 256 * 1024
MAX_ANSWER = 4096
CODE = "MALWARE_FOUND"

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ScannerAway(Exception):
    """It did not say what it thinks of the bytes; the text says why."""


@dataclass(frozen=True)
class Scanner:
    """The scanner that the settings name, if any."""

    settings: Settings

    async def check(self, content: bytes) -> None:
        """Refuse what the scanner finds something in."""

        async def once() -> AsyncIterator[bytes]:
            yield content

        async for _ in self.passing(once()):
            pass

    async def passing(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same bytes. Raises instead of ending if something was found."""
        if not self.settings.malware_scanner:
            async for chunk in chunks:
                yield chunk
            return
        scan = _Scan(self.settings.malware_scanner)
        try:
            await self._try(scan.begin())
            async for chunk in chunks:
                await self._try(scan.feed(chunk))
                yield chunk
            found = await self._try(scan.judge())
        finally:
            scan.close()
        if found:
            log.warning("malware was refused", found=found)
            raise Refusal(f"The file was refused: the malware scanner found {found}.", code=CODE)

    async def ping(self) -> str:
        """For the doctor: finds nothing in nothing."""
        scan = _Scan(self.settings.malware_scanner)
        try:
            await scan.begin()
            await scan.judge()
        finally:
            scan.close()
        return f"answers at {self.settings.malware_scanner}"

    async def _try(self, step: Awaitable[str]) -> str:
        try:
            return await step
        except ScannerAway as problem:
            accepts = self.settings.malware_scanner_away == "accept"
            log.error("the malware scanner is away", problem=str(problem), accepted=accepts)
            if accepts:
                return ""
            raise server_not_ready(
                "Files cannot be checked for malware right now. Please try again later.", 30
            ) from None


class _Scan:
    """One conversation with clamd. After a failure nothing more is sent, and every further step is silent."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: _Connection | None = None

    async def begin(self) -> str:
        try:
            async with asyncio.timeout(SECONDS):
                self._connection = await _connect(self._address)
                self._connection[1].write(b"zINSTREAM\0")
        except (OSError, ValueError) as error:
            raise ScannerAway(f"{self._address}: {error!r}") from error
        return ""

    async def feed(self, chunk: bytes) -> str:
        if self._connection is None:
            return ""
        _, writer = self._connection
        try:
            async with asyncio.timeout(SECONDS):
                for start in range(0, len(chunk), PIECE):
                    piece = chunk[start : start + PIECE]
                    writer.write(struct.pack("!I", len(piece)) + piece)
                    await writer.drain()
        except OSError as error:
            raise self._gave_up(await self._answer() or repr(error)) from error
        return ""

    async def judge(self) -> str:
        """What was found; empty: nothing."""
        if self._connection is None:
            return ""
        try:
            async with asyncio.timeout(SECONDS):
                self._connection[1].write(struct.pack("!I", 0))
                await self._connection[1].drain()
        except OSError as error:
            raise self._gave_up(await self._answer() or repr(error)) from error
        answer = await self._answer()
        if answer.endswith(" FOUND"):
            return answer.removeprefix("stream: ").removesuffix(" FOUND")[:100]
        if answer != "stream: OK":
            raise self._gave_up(answer or "no answer")
        return ""

    def close(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
            self._connection = None

    async def _answer(self) -> str:
        assert self._connection is not None
        with suppress(OSError, asyncio.LimitOverrunError, asyncio.IncompleteReadError):
            async with asyncio.timeout(SECONDS):
                return (
                    (await self._connection[0].readuntil(b"\0"))[:MAX_ANSWER].rstrip(b"\0").decode("utf-8", "replace")
                )
        return ""

    def _gave_up(self, why: str) -> ScannerAway:
        self.close()
        return ScannerAway(f"{self._address}: {why}")


async def _connect(address: str) -> _Connection:
    if address.startswith("unix:"):
        return await asyncio.open_unix_connection(address.removeprefix("unix:"), limit=MAX_ANSWER)
    parts = split_url(f"//{address.removeprefix('tcp:')}")
    return await asyncio.open_connection(parts.hostname, parts.port or 3310, limit=MAX_ANSWER)
