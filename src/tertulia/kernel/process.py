"""What a process of many connections asks of the operating system and of Python.

- Open files: each connection is one. The soft limit is often 1,024, and a process may raise it to the hard one.
- Garbage collection: reference counts free almost everything here; the collector is for cycles only. By default it
  looks at young objects after every 700 allocations and, while thousands of polls wait, at all that they hold again
  and again. Seldom is enough. While modules are loaded it finds nothing at all, and takes a tenth of the time.
- The end: Python would take apart every module, which takes a fifth of the time of a short command, and then run what
  libraries in C want done at the end. There are several copies of OpenSSL in one process: one of them may abort, and whoever
  waits for the exit code believes that the work failed. What matters is done by then.
"""

import atexit
import gc
import os
import resource
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import NoReturn

YOUNG = 20_000
MIDDLE = 20
OLD = 50


def load_quickly() -> None:
    """Call before anything is loaded."""
    gc.set_threshold(YOUNG)


def load_structlog() -> None:
    """Without Rich, which it brings for coloured tracebacks if it is there. Our log writes its own, and a relay would take a
    fifth longer to start."""
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # says to whoever imports it that it is not there
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]


def open_standard_files() -> None:
    """Whoever starts us without one of the three (`>&-`) gets an empty one: the first file or connection would take its place,
    and what is printed would go there."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    nothing = Path(os.devnull)
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    sys.stdout = sys.stdout or nothing.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nothing.open("w", encoding="utf-8")


def leave(code: int) -> NoReturn:
    """End this process as Python does, with its threads and what was to be done at the end, but for taking itself apart."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1  # whoever reads has gone, or the disk is full
    os._exit(code)


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
