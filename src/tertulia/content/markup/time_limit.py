"""A limit of processor time that holds inside regular expressions.

Only a signal can interrupt Python's `re` in the middle of a match, and only in the main thread; that is where messages are
rendered. Elsewhere nothing is tried at all. The timer counts the time this process computes, so a busy machine changes nothing.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")


class _OutOfTime(BaseException):
    """Not an Exception, so that nothing on the way catches it."""


def within(seconds: float, action: Callable[[], Result]) -> Result | None:
    """What the action gives, or None if it takes longer than this."""
    if seconds <= 0 or threading.current_thread() is not threading.main_thread():
        return None
    # Both the timer and the handler are as before when this is over: nobody else notices.
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            return action()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _OutOfTime:
        return None
    finally:
        signal.signal(signal.SIGVTALRM, before)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise _OutOfTime
