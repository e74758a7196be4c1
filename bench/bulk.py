"""What one administrator does to 10,000 people by one request, and how long others wait meanwhile: for their answers, and for the
events of their messages."""

import asyncio
import threading
from collections.abc import Callable, Sequence

from bench.http_bytes import request, send_request
from bench.load import Load, run_load
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tests.harness.server import Channel, User
from tests.system.crowd import NUMBER, Asker, Crowd, Story, run_crowd

PEOPLE = 10_000
TALKERS = 20
RATE, SECONDS = 20.0, 4.0
Act = Callable[[], float]


def measure(*, quick: bool) -> Report:
    count = 1_000 if quick else PEOPLE
    with open_stage() as stage:
        channels = stage.fill(users=count, channels=2, subscribers=TALKERS)
        talkers = asyncio.run(stage.people(TALKERS))
        rows = asyncio.run(stage.sql("select id from account where email like 'filled%' order by id"))
        everybody = "[" + ",".join(str(row["id"]) for row in rows[:count]) + "]"
        asyncio.run(stage.sql("analyze"))
        figures: list[Figure] = []
        acts = acts_of(stage, channels[1], everybody)
        # At first in that very channel: there others have to wait for the same row.
        figures += figures_of(
            "subscribe, others talk there", *talk_during(stage, channels[1], talkers, acts["subscribe"])
        )
        for name in ("unsubscribe", *acts):
            figures += figures_of(name, *talk_during(stage, channels[0], talkers, acts[name]))
    return Report("bench bulk", {"people": count, "messages a second": RATE}, figures)


def acts_of(stage: Stage, channel: Channel, everybody: str) -> dict[str, Act]:
    """By name, in an order in which each can be done."""
    owner = stage.server.owner
    named = f'[{{"name": "{channel.name}"}}]'

    def ask(method: str, path: str, **fields: str) -> float:
        return run_load(Load(stage.port, [[request(method, f"/api/v1/{path}", owner, fields)]])).seconds

    def group() -> int:
        [row] = asyncio.run(stage.sql("select id from user_group where name = 'everybody here'"))
        number: int = row["id"]
        return number

    return {
        "subscribe": lambda: ask("POST", "users/me/subscriptions", subscriptions=named, principals=everybody),
        "unsubscribe": lambda: ask(
            "DELETE", "users/me/subscriptions", subscriptions=f'["{channel.name}"]', principals=everybody
        ),
        "make a group": lambda: ask(
            "POST", "user_groups/create", name="everybody here", description="", members=everybody
        ),
        "leave the group": lambda: ask("POST", f"user_groups/{group()}/members", delete=everybody),
        "join the group": lambda: ask("POST", f"user_groups/{group()}/members", add=everybody),
        "end the group": lambda: ask("POST", f"user_groups/{group()}/deactivate"),
    }


def talk_during(stage: Stage, channel: Channel, talkers: Sequence[User], act: Act) -> tuple[Story, float]:
    """What others live through while it is done, and how long that takes."""
    took: list[float] = []
    worker = threading.Timer(1.0, lambda: took.append(act()))
    askers = [Asker("send", send_request(channel.stream_id, user, content=NUMBER.decode())) for user in talkers]
    listener = request("GET", "/", talkers[0]).partition(b"\r\n")[2]
    together = Story()
    worker.start()
    while worker.is_alive() or not together.answers:
        story = run_crowd(Crowd(stage.port, askers, [listener], TALKERS, [(RATE, SECONDS)]))
        together.answers += story.answers
        together.delays += story.delays
        together.problems += story.problems
    worker.join()
    if together.problems:
        raise RuntimeError(f"while others talked: {together.problems[:3]}")
    return together, took[0]


def figures_of(name: str, story: Story, took: float) -> list[Figure]:
    answered = sorted(one.took for one in story.answers)
    refused = sum(one.status != 200 for one in story.answers)
    heard = sorted(story.delays)
    return [
        Figure(name, took, "s"),
        Figure("  longest answer to others", answered[-1], "s", target="<= 1 s",
               note=f"half in {answered[len(answered) // 2]:.3f} s; {refused} of {len(answered)} refused"),
        Figure("  longest until an event", heard[-1], "s", target="<= 1 s", note=f"half in {heard[len(heard) // 2]:.3f} s"),
    ]  # fmt: skip
