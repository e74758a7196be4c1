"""The endpoint of slow answers."""

import asyncio
import time
from collections.abc import AsyncIterator

from tertulia.kernel.endpoint import get
from tertulia.kernel.errors import Refusal
from tertulia.kernel.reply import Reply
from tertulia.kernel.sealing import Sealer
from tertulia.server.probes.tickets import find_seconds

PIECE = b"."


class Probes:
    """Whom slow answers are for."""

    def __init__(self, sealer: Sealer) -> None:
        self.sealer = sealer


@get("/probe/{ticket}", prefix="", listed=False)
async def answer_slowly(probes: Probes, *, ticket: str) -> Reply:
    """One byte at once, and another when the time of the ticket has passed."""
    seconds = find_seconds(probes.sealer, ticket, time.time())
    if seconds is None:
        raise Refusal("There is nothing at this address.", status=404)
    return Reply.streamed(_pieces(seconds), 2 * len(PIECE), 200, {"cache-control": "no-store"}, "text/plain")


async def _pieces(seconds: float) -> AsyncIterator[bytes]:
    yield PIECE
    await asyncio.sleep(seconds)
    yield PIECE
