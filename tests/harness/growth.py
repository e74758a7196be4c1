"""How the cost of reading a text grows with its length."""

import time
from collections.abc import Callable

TRIES = 4
"""Something else on the machine may disturb one measurement, hardly four."""
LEAST_SECONDS = 0.005
"""What is shorter cannot be told apart."""


def check_proportion(read: Callable[[str], object], short: str, long: str) -> None:
    """Reading `long`, four times as long as `short`, takes about four times as long; were it quadratic, it would be sixteen."""
    assert len(long) < 5 * len(short)
    read(short[:100])
    ratios = []
    for _ in range(TRIES):
        ratios.append((_seconds(read, long) + LEAST_SECONDS) / (_seconds(read, short) + LEAST_SECONDS))
        if ratios[-1] < 8:
            return
    raise AssertionError(f"so many times longer, of four times the text: {ratios}")


def _seconds(read: Callable[[str], object], text: str) -> float:
    """The least of two."""
    taken = []
    for _ in range(2):
        started = time.process_time()
        read(text)
        taken.append(time.process_time() - started)
    return min(taken)
