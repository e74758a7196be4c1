"""How much processor time of this process somebody may use for having texts rendered.

Some texts are slow, up to the limits of `content/markup`, and all of them are rendered by the thread that answers everybody.
So what a person's texts take is counted. Whoever has used up their share gets code without colours, which is what is slow; the
text itself is always rendered. What a bot writes counts for its owner.
"""

import time

from tertulia.content.markup.limits import MAX_HIGHLIGHTING_SECONDS
from tertulia.kernel.limits import TimeBudgets

BURST_SECONDS = 1.0
"""What somebody may use who has not written for a while: that of twenty full messages of ordinary code."""
SHARE = 0.05
"""How fast it comes back: so much of all time. An ordinary message takes less than a thousandth of a second."""


class RenderingTime:
    """The time that everybody has left, in this process."""

    def __init__(self) -> None:
        self._budgets = TimeBudgets(BURST_SECONDS, SHARE)

    def of(self, person_id: int) -> "_Counted":
        """The seconds that colouring may take now; what is done meanwhile, without waiting for anything, is counted."""
        return _Counted(self._budgets, str(person_id))


class _Counted:
    """Around the rendering of one text."""

    __slots__ = ("_budgets", "_key", "_started")

    def __init__(self, budgets: TimeBudgets, key: str) -> None:
        self._budgets = budgets
        self._key = key

    def __enter__(self) -> float:
        self._started = time.thread_time()
        return min(MAX_HIGHLIGHTING_SECONDS, max(0.0, self._budgets.left(self._key)))

    def __exit__(self, *_: object) -> None:
        self._budgets.spend(self._key, time.thread_time() - self._started)
