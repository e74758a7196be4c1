"""What a process of many connections asks of the operating system and of Python.

- Open files: each connection is one. The soft limit is often 1,024, and a process may raise it to the hard one.
- Garbage collection: reference counts free almost everything here; the collector is for cycles only. By default it
  looks at young objects after every 700 allocations and, while thousands of polls wait, at all that they hold again
  and again. Seldom is enough.
"""

import gc
import resource

YOUNG = 20_000
MIDDLE = 20
OLD = 50


def raise_open_files() -> int:
    """Allow as many open files as this process may have; returns how many that is."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def collect_garbage_seldom() -> None:
    """Call when everything that stays was loaded: it is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
