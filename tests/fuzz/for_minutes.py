"""Makes one thing after the other and checks it, for some minutes; the first that fails is shown with its seed."""

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")
SAY_SECONDS = 60.0


def for_minutes(
    name: str,
    about: str,
    arguments: Sequence[str],
    make: Callable[[Random], Thing],
    check: Callable[[Thing], None],
) -> int:
    """The main function of such a program: the exit code."""
    parser = argparse.ArgumentParser(prog=f"bin/fuzz {name}", description=about)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first; the next has the next")
    wanted = parser.parse_args(arguments)
    end, say = time.monotonic() + wanted.minutes * 60, time.monotonic() + SAY_SECONDS
    for count in itertools.count():
        if time.monotonic() > end:
            break
        if time.monotonic() > say:
            say += SAY_SECONDS
            print(f"{count} so far", flush=True)
        check_seed(wanted.seed + count, make, check)
    print(f"{count} checked, seeds {wanted.seed} to {wanted.seed + count - 1}")
    return 0


def check_seed(seed: int, make: Callable[[Random], Thing], check: Callable[[Thing], None]) -> None:
    """Check what this seed makes."""
    thing = make(Random(seed))
    try:
        check(thing)
    except Exception as error:
        error.add_note(f"seed {seed}: {thing!r}")
        raise
