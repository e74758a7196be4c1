"""Three times as much as the server can do, and what becomes of those who ask meanwhile.

    bin/soak --overload --seconds 600

First 64 clients ask as fast as they are answered: that rate can be sustained. Then a crowd asks three times as fast, whether or
not it is answered (crowd.py), and at last half as fast, to see how soon all is well again. What must hold is checked, and the
figures are printed; `--strict` also fails if they are beyond what is promised (docs/explanation/promises.md).
"""

import argparse
import asyncio
import os
import statistics
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.http_bytes import request, send_request
from bench.load import Load, run_load
from bench.processes import cpu_of, rss_bytes
from bench.stage import Stage, open_stage
from tertulia.kernel.settings import Settings
from tests.harness.server import PATIENT, Channel, User
from tests.system.crowd import NUMBER, Asker, Crowd, Story, run_crowd

CLIENTS = 64
LATEST_SECONDS, RECOVERY_SECONDS = 2.0, 5.0
MEMORY_SECONDS = 0.5
WELL_SECONDS = 0.5
"""Whoever is answered so fast notices nothing."""
MIX = ("send", "fetch", "send", "send", "fetch", "send", "me", "send", "fetch", "send", "send", "fetch", "send", "send",
       "fetch", "send", "send", "fetch", "send", "register")  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """How large and how long."""

    seconds: float = 600.0
    calm: float = 15.0
    measured: float = 6.0
    people: int = 2000
    channels: int = 10
    connections: int = 4000
    listeners: int = 30
    times: float = 3.0


@dataclass(frozen=True)
class Outcome:
    plan: Plan
    sustainable: float
    afterwards: float
    """What could be sustained before the storm and after it."""
    story: Story
    memory: list[int]
    """Of web, in bytes, every half second from before the storm."""
    stored: dict[int, list[int]]
    """By its number: the ids under which a message is stored."""
    cpu: dict[str, float]

    @property
    def served(self) -> list[float]:
        """How long the answers of the storm took, in order; refusals are none."""
        return sorted(one.took for one in self.story.answers if one.status == 200 and one.asked < self.plan.seconds)

    @property
    def recovery(self) -> float:
        """From the end of the storm to the first second in which nobody was refused and 99 of 100 were answered soon."""
        for second in range(int(self.plan.calm)):
            begin = self.plan.seconds + second
            some = [one for one in self.story.answers if begin <= one.asked < begin + 1]
            late = sum(one.status != 200 or one.took > WELL_SECONDS for one in some)
            if some and late <= len(some) / 100:
                return float(second)
        return float("inf")

    def violations(self) -> list[str]:
        """What must never happen, however slow the machine is."""
        story, found = self.story, list(self.story.problems)
        if others := {one.status for one in story.answers} - {200, 503}:
            found.append(f"answers with status {sorted(others)}")
        if story.without_retry_after:
            found.append(f"{story.without_retry_after} refusals do not say when to come back")
        if story.lost or story.unanswered:
            found.append(f"{story.lost} connections were lost, {story.unanswered} requests had no answer")
        for number, message in story.acknowledged:
            if self.stored.get(number) != [message]:
                found.append(
                    f"message {number} was acknowledged as {message} and is stored as {self.stored.get(number)}"
                )
        return found

    def lateness(self) -> list[str]:
        """What is promised of a machine that has nothing else to do."""
        found = []
        if self.served[-1] > LATEST_SECONDS:
            found.append(f"an answer took {self.served[-1]:.2f} s")
        if self.recovery > RECOVERY_SECONDS:
            found.append(f"{self.recovery:.1f} s after the storm not all was well")
        return found


def live_through(stage: Stage, plan: Plan) -> Outcome:
    channels = stage.fill(users=plan.people, channels=plan.channels, subscribers=plan.people)
    people = asyncio.run(stage.people(plan.people))
    asyncio.run(stage.sql("analyze"))
    askers = requests_of(channels, people)
    sustainable = find_sustainable(stage, askers, plan.measured)
    web = stage.pids["web"]
    memory, cpu = Memory(web), cpu_of(stage.pids)
    try:
        story = run_crowd(
            Crowd(
                stage.port,
                askers,
                [listening_head(user) for user in people[: plan.listeners]],
                plan.connections,
                [(sustainable * plan.times, plan.seconds), (sustainable / 2, plan.calm)],
            )
        )
    finally:
        memory.stop()
    used = {name: seconds - cpu[name] for name, seconds in cpu_of(stage.pids).items()}
    stored = asyncio.run(stored_messages(stage))
    return Outcome(plan, sustainable, find_sustainable(stage, askers, plan.measured), story, memory.found, stored, used)


def find_sustainable(stage: Stage, askers: Sequence[Asker], seconds: float) -> float:
    """Requests a second that clients get who wait for their answers."""
    own = [[one.request for one in askers[client :: CLIENTS + 1]] for client in range(CLIENTS)]
    return run_load(Load(stage.port, own, seconds, warm_up=seconds / 2)).rate


def requests_of(channels: Sequence[Channel], people: Sequence[User]) -> list[Asker]:
    """What everybody does in turn: people mostly talk and read, and some begin. Who begins reads what is there before they begin
    again: nobody comes back every few seconds to tens of thousands of messages that they never look at."""
    kinds = MIX * (len(people) // len(MIX))
    again = ["read" if kind == "register" else kind for kind in kinds]
    return [
        Asker(kind, request_of(kind, user, channels[number % len(channels)]))
        for turn in (kinds, again)
        for number, (kind, user) in enumerate(zip(turn, people, strict=False))
    ]


def request_of(kind: str, user: User, channel: Channel) -> bytes:
    if kind == "send":
        return send_request(channel.stream_id, user, content=NUMBER.decode())
    if kind == "fetch":
        narrow = f'[{{"operator": "channel", "operand": {channel.stream_id}}}]'
        fields = {"anchor": "newest", "num_before": "20", "num_after": "0", "narrow": narrow}
        return request("GET", "/api/v1/messages", user, fields)
    if kind == "read":
        return request("POST", "/api/v1/mark_all_as_read", user)
    if kind == "me":
        return request("GET", "/api/v1/users/me", user)
    return request("POST", "/api/v1/register", user, {"idle_queue_timeout": "30"})


def listening_head(user: User) -> bytes:
    """Of the requests of a listener: everything but their first line."""
    return request("GET", "/", user).partition(b"\r\n")[2]


async def stored_messages(stage: Stage) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in await stage.sql("select id, content from message where content like 'crowd%' and content <> $1",
                               NUMBER.decode()):  # fmt: skip
        found.setdefault(int(row["content"][5:]), []).append(row["id"])
    return found


class Memory:
    """How much a process has, looked at again and again."""

    def __init__(self, pid: int) -> None:
        self.found = [rss_bytes(pid)]
        self._pid = pid
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(MEMORY_SECONDS):
            self.found.append(rss_bytes(self._pid))


def tell(outcome: Outcome) -> None:
    plan, story = outcome.plan, outcome.story
    storm = [one for one in story.answers if one.asked < plan.seconds]
    print(
        f"sustainable {outcome.sustainable:.0f}/s before it, {outcome.afterwards:.0f}/s after it; "
        f"asked {outcome.sustainable * plan.times:.0f}/s for {plan.seconds:g} s"
    )
    kinds = Counter((one.kind, one.status) for one in storm)
    for kind in dict.fromkeys((*MIX, "read")):
        took = sorted(one.took for one in storm if one.kind == kind and one.status == 200)
        print(
            f"  {kind:9} {spread(took)}; refused {kinds[kind, 503]} of {sum(n for k, n in kinds.items() if k[0] == kind)}"
        )
    refused = sorted(one.took for one in storm if one.status == 503)
    print(f"served {len(outcome.served) / plan.seconds:.0f}/s: {spread(outcome.served)}")
    print(f"refused {len(refused) / plan.seconds:.0f}/s: {spread(refused)}; share {len(refused) / len(storm):.2f}")
    print(f"well again after {outcome.recovery:.1f} s; not sent for want of a connection: {story.late}")
    eighths = [f"{value >> 20}" for value in outcome.memory[:: max(1, len(outcome.memory) // 8)]]
    print(f"memory of web, MiB: {', '.join(eighths)} in the course of it; {max(outcome.memory) >> 20} at most")
    print(f"{len(story.acknowledged)} messages acknowledged, {story.heard} heard by {plan.listeners} listeners, "
          f"whose polls were refused {story.polls_refused} times")  # fmt: skip
    print("processor time: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in outcome.cpu.items()))


def spread(values: Sequence[float]) -> str:
    if not values:
        return "none"
    last = values[min(len(values) - 1, int(len(values) * 0.99))]
    return f"{len(values)}, half in {statistics.median(values):.3f} s, 99 % in {last:.3f} s, all in {values[-1]:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bin/soak --overload", description="Ask three times as much as can be done.")
    parser.add_argument("--seconds", type=float, default=Plan.seconds)
    parser.add_argument("--times", type=float, default=Plan.times)
    parser.add_argument("--people", type=int, default=Plan.people)
    parser.add_argument("--strict", action="store_true", help="also fail if answers or the recovery are late")
    chosen = parser.parse_args()
    # Rates of single people are counted and never reached: a few of them stand for many here.
    os.environ.update({"TERTULIA_USER_RATE": "1000000/1", "TERTULIA_ADDRESS_RATE": "1000000/1"} | os.environ)
    plan = Plan(seconds=chosen.seconds, times=chosen.times, people=chosen.people)
    with open_stage(**as_people_have_it()) as stage:
        outcome = live_through(stage, plan)
    tell(outcome)
    problems = outcome.violations() + (outcome.lateness() if chosen.strict else [])
    for problem in problems[:20]:
        print(f"NOT HELD: {problem}")
    sys.exit(1 if problems else 0)


def as_people_have_it() -> dict[str, object]:
    """The limits of a server that is not one of tests."""
    default = Settings()
    return {name: getattr(default, name) for name in PATIENT if name != "rate_limits"}


if __name__ == "__main__":
    main()
