"""The long version of test_faults.py: rounds of talk under random faults, until the time is up.

    bin/soak --minutes 30 --seed 5

Each round is a fresh realm on the same server, with a second web process and a second relay beside it. Something is
killed, paused or wiped every few seconds; then everything is checked (chatter.py). The first failure ends the run and
leaves the data and the logs. The seed repeats the choices, not the timing.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp

from tertulia.engines import ChildProcess
from tests.harness.server import OwnServer
from tests.system.chatter import Chatter
from tests.system.faults import crash_postgres, delete_streams, empty_nats, kill, purge_streams
from tests.system.web_process import WebProcess

ROUND_SECONDS = 45.0
OWN = ("web", "relay", "worker", "nats", "postgres")
Fault = Callable[[], Awaitable[None]]


class Soak:
    def __init__(self, folder: Path, seed: int, stack: ExitStack) -> None:
        self.random = random.Random(seed)
        self.server = OwnServer.start(folder)
        stack.callback(self.server.stop)
        self.web = WebProcess(self.server, folder / "second-web.log")
        command = [sys.executable, "-m", "tertulia", "relay"]
        self.relay = ChildProcess(command, folder / "second-relay.log", env=self.server.environment())
        for process in (self.web, self.relay):
            process.start()
            stack.callback(process.stop)
        self.web.await_ready()
        self.done: Counter[str] = Counter()
        self.totals: Counter[str] = Counter()

    async def round(self, seconds: float) -> None:
        """Talk under faults for that long, then check everything."""
        wipes = self.random.random() < 0.3
        chatter = Chatter(self.server, [self.server.url, self.web.url], self.random)
        until = time.monotonic() + seconds
        async with chatter.running():
            await chatter.progress(sends=5)
            while time.monotonic() < until:
                for name, fault in self._choose(wipes=wipes):
                    print(f"{time.strftime('%H:%M:%S')}   {name}", flush=True)
                    self.done[name] += 1
                    await fault()
                if self.random.random() < 0.7:
                    await chatter.progress(sends=self.random.randint(1, 60), seconds=90)
            await chatter.progress(sends=10, seconds=90)
        print(f"{time.strftime('%H:%M:%S')} {chatter.summary}", flush=True)
        if not wipes:
            assert chatter.registrations == len(chatter.listeners), "a queue died although nothing was wiped"
        self.totals["rounds"] += 1
        self.totals["messages"] += len(chatter.words)
        self.totals["answered"] += chatter.answered
        self.totals["events"] += chatter.heard
        self.totals["registrations"] += chatter.registrations

    def _choose(self, *, wipes: bool) -> list[tuple[str, Fault]]:
        """One fault, or two at once."""
        faults: dict[str, Fault] = {f"kill {name}": self._killing(name) for name in OWN}
        faults["crash postgres"] = lambda: crash_postgres(self.server)
        faults["kill second web"] = self._restart_web
        faults["kill second relay"] = self._restart_relay
        faults["kill web and relay together"] = lambda: self._kill_all("web", "relay")
        faults["kill nats and postgres together"] = lambda: self._kill_all("nats", "postgres")
        faults |= {f"pause {name}": self._pausing(name) for name in ("web", "relay", "nats")}
        faults["pause nats, then relay"] = self._pause_in_turn
        if wipes:
            faults |= {wipe.__name__: self._wiping(wipe) for wipe in (delete_streams, purge_streams, empty_nats)}
        names = self.random.sample(sorted(faults), 1 if self.random.random() < 0.8 else 2)
        return [(name, faults[name]) for name in names]

    def _killing(self, name: str) -> Fault:
        return lambda: kill(self.server, name)

    def _wiping(self, wipe: Callable[[OwnServer], Awaitable[None]]) -> Fault:
        return lambda: wipe(self.server)

    def _pausing(self, name: str) -> Fault:
        async def pause() -> None:
            pid = self.server.state.pids[name]
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(self.random.uniform(0.2, 14))
            os.kill(pid, signal.SIGCONT)

        return pause

    async def _pause_in_turn(self) -> None:
        """The relay finds all at once what it waited for and that it waited too long: a relay hung on this once."""
        for name in ("nats", "relay"):
            pid = self.server.state.pids[name]
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(self.random.uniform(2, 4.5))
            os.kill(pid, signal.SIGCONT)

    async def _kill_all(self, *names: str) -> None:
        await asyncio.gather(*(kill(self.server, name) for name in names))

    async def _restart_web(self) -> None:
        self.web.kill()
        await asyncio.sleep(self.random.uniform(0, 1))
        self.web.start()

    async def _restart_relay(self) -> None:
        self.relay.kill()
        await asyncio.sleep(self.random.uniform(0, 1))
        self.relay.start()


async def _run(folder: Path, minutes: float, seed: int) -> None:
    until = time.monotonic() + minutes * 60
    with ExitStack() as stack:
        soak = Soak(folder, seed, stack)
        while (left := until - time.monotonic()) > 0 or not soak.totals["rounds"]:
            await soak.round(min(ROUND_SECONDS, max(left, 5)))
        print(f"faults: {sum(soak.done.values())}: {dict(sorted(soak.done.items()))}")
        print(f"held: {dict(soak.totals)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bin/soak", description="Talk under random faults and check everything.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = parser.parse_args()
    folder = Path(mkdtemp(prefix="tertulia-soak-"))
    print(f"seed {chosen.seed}, data and logs in {folder}", flush=True)
    asyncio.run(_run(folder, chosen.minutes, chosen.seed))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
