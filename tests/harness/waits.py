"""How long others wait while somebody does something large."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.talk import Speaker


@contextmanager
def waits_of(speaker: Speaker) -> Iterator[list[float]]:
    """How long somebody else waits for each of many small answers."""
    waits: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(0.01):
            began = time.perf_counter()
            speaker.request("GET", "server_settings")
            waits.append(time.perf_counter() - began)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield waits
    finally:
        done.set()
        asking.join()
