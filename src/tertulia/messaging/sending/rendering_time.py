"""How much processor time of this process somebody may use for having texts rendered.

Some texts are slow, up to the limits of `content/markup`, and all of them are rendered by the thread that answers everybody.
So what a person's texts take is counted. Whoever has used up their share gets code without colours, which is what is slow; the
text itself is always rendered. What a bot writes counts for itself.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tertulia.content.markup.limits import MAX_HIGHLIGHTING_SECONDS
from tertulia.kernel.limits import least_full

BURST_SECONDS = 1.0
"""What somebody may use who has not written for a while: that of twenty full messages of ordinary code."""
SHARE = 0.05
"""How fast it comes back: so much of all time. An ordinary message takes less than a thousandth of a second."""
MAX_WRITERS = 10_000
"""After so many half of them are forgotten: those whose time has come back, or most of it."""


class RenderingTime:
    """The time that everybody has left, in this process."""

    def __init__(self) -> None:
        self._full_at: dict[int, float] = {}

    @contextmanager
    def of(self, user_id: int) -> Iterator[float]:
        """The seconds that colouring may take now; what is done meanwhile, without waiting for anything, is counted."""
        started = time.thread_time()
        try:
            yield min(MAX_HIGHLIGHTING_SECONDS, self._left(user_id))
        finally:
            self._spend(user_id, time.thread_time() - started)

    def _left(self, user_id: int) -> float:
        used = max(0.0, self._full_at.get(user_id, 0.0) - time.monotonic()) * SHARE
        return max(0.0, BURST_SECONDS - used)

    def _spend(self, user_id: int, seconds: float) -> None:
        now = time.monotonic()
        if len(self._full_at) >= MAX_WRITERS:
            self._full_at = least_full(self._full_at, now, MAX_WRITERS // 2)
        self._full_at[user_id] = max(self._full_at.get(user_id, 0.0), now) + seconds / SHARE
