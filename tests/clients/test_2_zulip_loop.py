"""PyPI's `zulip` waits for events: whatever happens to the server, its loop goes on, and nothing is delivered twice."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.clients.conftest import FAST_HEART, address_of
from tests.clients.program import PROGRAMS, Program, clean_environment
from tests.harness.server import OwnServer, Server, User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, speaking, unique

pytestmark = [pytest.mark.system, pytest.mark.clients]
LIBRARY = "Python library `zulip`"
HEARTBEATS_OF_120_SECONDS = 3

Listen = Callable[..., Program]


@pytest.fixture
def listen(bots: Path, folder: Path) -> Iterator[Listen]:
    """A loop of the library as that user, once it waits."""
    with ExitStack() as stack:

        def start(server: Server, user: User, method: str = "call_on_each_event", **options: object) -> Program:
            who = [address_of(server), user.email, user.api_key]
            command = [bots / "python", PROGRAMS / "zulip_listen.py", *who, method, json.dumps(options)]
            program = Program(command, env=clean_environment(folder))
            stack.enter_context(program)
            program.until(lambda line: "register" in line)
            return program

        yield start


@pytest.mark.client(LIBRARY, "`call_on_each_event` and `call_on_each_message` deliver", package="zulip")
def test_the_loops_deliver(server: OwnServer, stage: Stage, listen: Listen) -> None:
    sender, listener = stage.speaker(), stage.speaker()
    channel = stage.channel(sender, listener)
    events = listen(server, listener.user)
    messages = listen(server, listener.user, "call_on_each_message")
    narrowed = listen(server, listener.user, event_types=["message"], narrow=[["stream", channel.name]])
    sender.send([listener.id], content="aside")
    sent = sender.send(channel.name, "lunch", "Soup?")
    assert delivered_message(events, sent)["content"] == "Soup?"
    assert delivered(messages, lambda it: it["id"] == sent)["subject"] == "lunch"
    assert first_delivered(narrowed)["message"]["id"] == sent
    sender.post(f"messages/{sent}/reactions", emoji_name="+1")
    assert delivered(events, lambda it: it["type"] == "reaction")["message_id"] == sent


@pytest.mark.client(LIBRARY, "its loop registers again when its queue is gone", package="zulip")
def test_the_loop_survives_the_loss_of_its_queue(server: OwnServer, stage: Stage, listen: Listen) -> None:
    sender, listener = stage.speaker(), stage.speaker()
    loop = listen(server, listener.user, "call_on_each_message")
    registered = json.loads(loop.seen[-1])["register"]
    listener.delete("events", queue_id=registered["queue"])
    again = loop.until(lambda line: "register" in line)["register"]
    assert (again["result"], again["queue"] != registered["queue"]) == ("success", True)
    assert '"BAD_EVENT_QUEUE_ID"' in "".join(loop.seen)
    sent = sender.send([listener.id], content="still there?")
    assert delivered(loop, lambda it: it["id"] == sent)["content"] == "still there?"


@pytest.mark.client(LIBRARY, "its loop is idle for as many heartbeats as 120 s have, then delivers", package="zulip")
def test_the_loop_survives_being_idle(server: OwnServer, stage: Stage, listen: Listen) -> None:
    sender, listener = stage.speaker(), stage.speaker()
    loop = listen(server, listener.user, "call_on_each_message")
    for _ in range(HEARTBEATS_OF_120_SECONDS):
        poll = loop.until(lambda line: "poll" in line)["poll"]
        assert (poll["result"], poll["types"]) == ("success", ["heartbeat"])
    sent = sender.send([listener.id], content="awake?")
    assert delivered(loop, lambda it: it["id"] == sent)["content"] == "awake?"
    assert loop.errors == []


@pytest.mark.client(LIBRARY, "its loop goes on after 429", package="zulip")
def test_the_loop_survives_a_rate_limit(listen: Listen, folder: Path) -> None:
    limits = {"TERTULIA_RATE_LIMITS": "true", "TERTULIA_USER_RATE": "10/10"}
    with running(folder, limits) as own:
        loop = listen(own, own.guest, "call_on_each_message")
        with speaking(own, own.guest) as hasty:
            while hasty.request("GET", "users/me").status_code == 200:
                pass
            refused = loop.until(lambda line: "poll" in line and line["poll"]["result"] == "error")
            assert refused["poll"]["code"] == "RATE_LIMIT_HIT"
        with speaking(own, own.owner) as sender:
            sent = sender.send([own.guest.user_id], content="patience")
        assert delivered(loop, lambda it: it["id"] == sent)["content"] == "patience"


@pytest.mark.client(
    LIBRARY, "its loop lives through kill -9 of every process, in order, nothing twice", package="zulip"
)
def test_the_loop_survives_the_restart_of_every_process(listen: Listen, folder: Path) -> None:
    with running(folder, {}) as own, speaking(own, own.owner) as sender:
        loop = listen(own, own.members[0], event_types=["message"])
        sent = []
        for name in ("web", "relay", "worker", "nats", "postgres"):
            own.kill(name)
            sent.append(sent_patiently(sender, own.members[0].user_id, f"after {name}"))
            delivered_message(loop, sent[-1])
    arrived = [json.loads(line).get("delivered") for line in loop.seen]
    ours = [event["message"]["id"] for event in arrived if event and event["message"]["id"] in sent]
    assert ours == sent


@contextmanager
def running(folder: Path, env: dict[str, str]) -> Iterator[OwnServer]:
    """A server to be mistreated."""
    own = OwnServer.start(folder, env=FAST_HEART | env)
    try:
        yield own
    finally:
        own.stop()


def sent_patiently(sender: Speaker, to: int, content: str) -> int:
    """As clients do: again until it is accepted, with a key that makes it one message."""
    key = unique("key")
    while True:
        try:
            fields = {"type": "direct", "to": json.dumps([to]), "content": content}
            reply = sender.http.post("messages", data=fields, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            continue
        if reply.status_code == 200:
            return int(reply.json()["id"])


def delivered(loop: Program, is_wanted: Callable[[Json], bool]) -> Json:
    found: Json = loop.until(lambda line: "delivered" in line and is_wanted(line["delivered"]))["delivered"]
    return found


def delivered_message(loop: Program, message_id: int) -> Json:
    found: Json = delivered(loop, lambda it: it["type"] == "message" and it["message"]["id"] == message_id)["message"]
    return found


def first_delivered(loop: Program) -> Json:
    return delivered(loop, lambda _: True)
