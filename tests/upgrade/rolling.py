"""A rolling upgrade under load, and the way back: people talk, listen and change their alert words all the time.

    bin/soak --upgrade --clients 50
    bin/soak --upgrade --clients 50 --from v0.1.0      from the program of that commit to this one, and back

The checker is that of chatter.py: nothing lost, doubled or out of order. Here besides: no answer but success, 503 and the end
of a queue; what a newer version keeps from clients reaches none; and everybody has the alert words that they chose, which the
two versions keep in different columns.
"""

import argparse
import asyncio
import itertools
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx
import msgspec

from tests.system.chatter import AFTER_FAILURE, Chatter, Listener, Words
from tests.system.model_client import Json, Mismatch, ModelState
from tests.upgrade.fleet import NAMES, Fleet, fleet_in
from tests.upgrade.versions import SECRET, THIS, Version, make_after, make_next, take_release

PATIENCE_SECONDS = 300
"""For people to get on between two steps: the soak asks what is lost, and not how fast a busy machine is."""
WORD_SECONDS = 0.3
WORDS = 20


class Spelling(ModelState):
    """A client that keeps its alert words too, and passes over kinds of events that it does not know."""

    def __init__(self, registered: Json) -> None:
        super().__init__(registered)
        self.alert_words: list[str] = registered["alert_words"]

    def apply(self, event: Json) -> None:
        if event["type"] == "alert_words":
            self.alert_words = event["alert_words"]
        elif event["type"] != "word_count":
            super().apply(event)

    def differences(self, other: ModelState) -> list[str]:
        assert isinstance(other, Spelling)
        ours, theirs = sorted(self.alert_words), sorted(other.alert_words)
        return [*super().differences(other), *([] if ours == theirs else [f"alert words: {ours} against {theirs}"])]


class Users(Chatter):
    """People who do not care which version answers."""

    def __init__(self, fleet: Fleet, chance: random.Random, *, each: int = 1, pause: float = 0.05) -> None:
        super().__init__(fleet, fleet.urls, chance, pause=pause, each=each)
        self._http.event_hooks = {}  # two versions publish two descriptions
        self.statuses: Counter[int | str] = Counter()
        self.waits: list[float] = []
        self.counted = 0
        """Events of the kind that only the newer versions know."""
        self.chosen: dict[int, set[str]] = {}

    @property
    def longest(self) -> tuple[float, float]:
        """The longest wait for a reply to a message, with all its tries, and between two events of a listener."""
        gaps = [after - before for one in self.listeners for before, after in itertools.pairwise(one.times)]
        return max(self.waits, default=0.0), max(gaps, default=0.0)

    def auth_of(self, user_id: int) -> httpx.BasicAuth:
        return dict(self._people)[user_id]

    async def until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        """Meanwhile people go on."""
        await self._until(is_so, 60, lambda: otherwise)

    def _new_state(self, body: Json) -> ModelState:
        return Spelling(body)

    def _talks(self) -> list[Coroutine[None, None, None]]:
        return [*super()._talks(), *(self._choose_words(number) for number in range(2))]

    async def _say(self, auth: httpx.BasicAuth, words: Words, address: Json, *, repeats: bool) -> None:
        began = time.monotonic()
        await super()._say(auth, words, address, repeats=repeats)
        if words.id:
            self.waits.append(time.monotonic() - began)

    async def _choose_words(self, number: int) -> None:
        """Each is asked for until the answer comes: a second time does no harm."""
        user_id, auth = self._people[number]
        chosen = self.chosen[user_id] = set()
        for count in itertools.count():
            if self._ending.is_set():
                return
            word = f"zebra{count % WORDS}of{user_id}"
            method = "DELETE" if word in chosen else "POST"
            asked = {"alert_words": msgspec.json.encode([word]).decode()}
            while True:
                url = f"{self._random.choice(self.urls)}/api/v1/users/me/alert_words"
                reply = await self._try(auth, method, url, {}, params=asked)
                if reply is not None and reply.status_code == 200:
                    break
                await asyncio.sleep(AFTER_FAILURE)
            chosen ^= {word}
            if set(reply.json()["alert_words"]) != chosen:
                raise Mismatch(f"{reply.json()} is not {chosen}")
            await asyncio.sleep(WORD_SECONDS)

    async def _try(
        self, auth: httpx.BasicAuth, method: str, url: str, headers: dict[str, str], **given: Any
    ) -> httpx.Response | None:
        reply = await super()._try(auth, method, url, headers, **given)
        self.statuses["none" if reply is None else reply.status_code] += 1
        if reply is not None and (reply.status_code not in (200, 400, 503) or SECRET in reply.text):
            raise Mismatch(f"{method} {url} was answered {reply.status_code}: {reply.text[:500]}")
        return reply

    def _apply(self, listener: Listener, event: Json) -> None:
        self.counted += event["type"] == "word_count"
        super()._apply(listener, event)


class Upgrade:
    """The play: this version, the next, back, the next again, and the one after, which contracts."""

    def __init__(self, fleet: Fleet, users: Users, versions: tuple[Version, Version], *, sends: int) -> None:
        self.fleet = fleet
        self.users = users
        self.next, self.after = versions
        self._sends = sends

    async def roll(self, version: Version, names: Sequence[str] = NAMES) -> None:
        """One process after another; people get on in between."""
        for name in names:
            await self.fleet.start(name, version)
            await self.progress()
            print(f"{time.strftime('%H:%M:%S')}   {name}: {version.name}; {self.users.summary}", flush=True)

    async def progress(self) -> None:
        await self.users.progress(self._sends, PATIENCE_SECONDS)

    async def migrate(self, version: Version) -> None:
        done = await asyncio.to_thread(self.fleet.run, version, "migrate")
        assert done.returncode == 0, done.stderr
        print(done.stdout, end="", flush=True)

    async def forward_and_back(self, names: Sequence[str]) -> None:
        """To the next version with all processes, back with some of them, and forward again."""
        await self.migrate(self.next)
        await self.roll(self.next)
        assert self.users.registrations == len(self.users.listeners), "a queue died on the way forward"
        assert self.users.counted, "the newer version told nobody of its own"
        newer = self._listener_at([name for name in names if name in self.fleet.sockets][-1])
        newer.forget = True  # whoever registers with the newer version may have a state that this one does not know of
        await self.progress()
        await self.roll(THIS, tuple(reversed(names)))
        await self.users.until(
            lambda: newer.died > 0, "a queue of the newer version misses what this one does not know"
        )
        await self.roll(self.next, names)

    def _listener_at(self, name: str) -> Listener:
        """Of somebody who chooses words, at one web process alone: as long as another one is newer, it tells them of words."""
        url = self.fleet.urls[list(self.fleet.sockets).index(name)]
        choosing = {id(self.users.auth_of(user_id)) for user_id in self.users.chosen}
        return next(one for one in self.users.listeners if one.urls == [url] and id(one.auth) in choosing)

    async def contract(self, names: Sequence[str]) -> None:
        """To the version after: it waits for the last process of this one."""
        await self.migrate(self.after)
        refused = await asyncio.to_thread(self.fleet.run, THIS, "worker")
        assert "this program is too old" in refused.stderr, refused
        await self.progress()
        await self.roll(self.after, names)

    async def from_release(self, release: Version) -> None:
        """From an older program to this one, back, and forward again. Queues live on forward, and may end on the way back."""
        await self.migrate(THIS)
        await self.roll(THIS)
        assert self.users.registrations == len(self.users.listeners), "a queue died on the way forward"
        await self.roll(release, tuple(reversed(NAMES)))
        registrations = self.users.registrations
        await self.roll(THIS)
        assert self.users.registrations == registrations, "a queue died on the second way forward"


async def play(folder: Path, *, each: int, names: Sequence[str], sends: int, seed: int, pause: float = 0.05) -> Users:
    """All of it; the users, when everything was checked."""
    following = make_next(folder / "next")
    after = make_after(folder / "after", following)
    with fleet_in(folder) as fleet:
        assert fleet.run(THIS, "migrate").returncode == 0
        for name in NAMES:
            await fleet.start(name, THIS)
        users = Users(fleet, random.Random(seed), each=each, pause=pause)
        upgrade = Upgrade(fleet, users, (following, after), sends=sends)
        async with users.running():
            await upgrade.progress()
            await upgrade.forward_and_back(names)
            await upgrade.contract(names)
    return users


async def play_release(folder: Path, reference: str, *, each: int, sends: int, seed: int) -> Users:
    """The same between a commit of the past and this program."""
    release = take_release(folder / "release", reference)
    with fleet_in(folder) as fleet:
        assert fleet.run(release, "migrate").returncode == 0
        for name in NAMES:
            await fleet.start(name, release)
        users = Users(fleet, random.Random(seed), each=each)
        upgrade = Upgrade(fleet, users, (THIS, THIS), sends=sends)
        async with users.running():
            await upgrade.progress()
            await upgrade.from_release(release)
    return users


def main() -> None:
    parser = argparse.ArgumentParser(prog="bin/soak --upgrade", description="Upgrade under load, go back, and check.")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--from", dest="reference", help="a commit or tag: from its program to this one, and back")
    chosen = parser.parse_args()
    folder = Path(mkdtemp(prefix="tertulia-upgrade-"))
    print(f"seed {chosen.seed}, data and logs in {folder}", flush=True)
    each = max(1, round(chosen.clients / 6))
    if chosen.reference:
        users = asyncio.run(play_release(folder, chosen.reference, each=each, sends=100, seed=chosen.seed))
    else:
        users = asyncio.run(play(folder, each=each, names=NAMES, sends=100, seed=chosen.seed))
    said, heard = users.longest
    print(f"held: {users.summary}; {sum(one.died for one in users.listeners)} queues ended by the server")
    print(f"answers: {dict(users.statuses)}; longest wait for a reply {said:.2f} s, between events {heard:.2f} s")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
