"""How long a request keeps the event loop to itself.

One thread answers everybody. Between two waits a request has that thread for itself: a turn, of a millisecond or two. Bounds
keep turns short wherever we know of a long one, and few. For where we do not, the turns of a request are added up here, and
whoever asked for them pays (kernel/admission.py): the slowest request that anybody finds can be sent a few times, and then so
seldom that others hardly notice.
"""

import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")

FREE_SECONDS = 0.05
"""So much of a request is not told: it is ordinary, or the machine was doing something else for a moment."""


class Standstill:
    """How long everybody has waited for long turns since this process began: what seemed slow meanwhile was perhaps not."""

    seconds = 0.0


def note_turn(seconds: float) -> float:
    """One took so long."""
    if seconds > FREE_SECONDS:
        Standstill.seconds += seconds
    return seconds


@types.coroutine
def telling_turns(
    coroutine: Coroutine[Any, Any, T], tell: Callable[[float], None], free: float = FREE_SECONDS
) -> Generator[Any, Any, T]:
    """Await the coroutine, with a clock: `tell` hears what its turns take together beyond `free`, at the end of each."""
    act: Callable[[Any], Any] = coroutine.send
    given: object = None
    while True:
        began = time.perf_counter()
        try:
            awaited = act(given)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            seconds = note_turn(time.perf_counter() - began)
            free -= seconds
            if free < 0:
                tell(-free)
                free = 0.0
        try:
            given = yield awaited
            act = coroutine.send
        except BaseException as error:
            act, given = coroutine.throw, error
