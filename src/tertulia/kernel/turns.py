"""How long a request keeps the event loop to itself.

One thread answers everybody. Between two waits a request has that thread for itself: a turn, of a millisecond or two. Bounds
keep turns short wherever we know of a long one. For where we do not, turns that are long are added up here, and whoever asked
for them pays (kernel/admission.py): the slowest request that anybody finds can be sent a few times, and then so seldom that
others hardly notice.
"""

import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")

LONG_SECONDS = 0.05
"""What is shorter is not told: it is ordinary, or the machine was doing something else for a moment."""


@types.coroutine
def telling_long_turns(
    coroutine: Coroutine[Any, Any, T], tell: Callable[[float], None], long: float = LONG_SECONDS
) -> Generator[Any, Any, T]:
    """Await the coroutine, with a clock: `tell` hears of each turn that is `long`."""
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
            seconds = time.perf_counter() - began
            if seconds > long:
                tell(seconds)
        try:
            given = yield awaited
            act = coroutine.send
        except BaseException as error:
            act, given = coroutine.throw, error
