"""Who talks in the contract tests, and where: found by what the server itself says, not by what we know of the demo.

Against a server that runs elsewhere (bin/contract), tests that need one of their own are skipped, and at the end the
statements of the protocol are counted.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from tests.harness import protocol
from tests.harness.server import MEMBER, Channel, Server, User
from tests.harness.talk import Json, Queue, Speaker, speaking, unique

ELSEWHERE = os.environ.get("TERTULIA_TEST_URL")
OWN = {"own_server", "engines", "folder", "shared_folder"}
"""Fixtures with which a test starts processes of ours, or looks into their engines and files."""
_outcomes = pytest.StashKey[dict[str, set[str]]]()
"""What became of the tests that cite a statement, by its anchor."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[_outcomes] = {}
    for item in items if ELSEWHERE else ():
        mark = item.get_closest_marker("own_server")
        if mark is not None or OWN & {*getattr(item, "fixturenames", ())}:
            reason = mark.args[0] if mark is not None else "it starts processes of its own"
            item.add_marker(pytest.mark.skip(reason=f"needs a server of its own: {reason}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" or report.outcome != "passed":
        for mark in item.iter_markers("holds"):
            for anchor in mark.args:
                item.config.stash[_outcomes].setdefault(anchor, set()).add(report.outcome)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not ELSEWHERE or not (outcomes := config.stash.get(_outcomes, {})):
        return
    every = [statement.anchor for statement in protocol.statements()]
    broken = [anchor for anchor in every if "failed" in outcomes.get(anchor, ())]
    held = [anchor for anchor in every if "passed" in outcomes.get(anchor, ()) and anchor not in broken]
    untested = [anchor for anchor in every if anchor not in broken and anchor not in held]
    terminalreporter.section("statements of the protocol")
    terminalreporter.line(
        f"{ELSEWHERE}: of {len(every)} statements {len(held)} hold, {len(broken)} do not, {len(untested)} were not tested"
    )
    for word, anchors in (("Not held", broken), ("Not tested", untested)):
        if 0 < len(anchors) <= 40:
            terminalreporter.line(f"{word}: {', '.join(anchors)}")


class Cast(NamedTuple):
    """Speakers by their part, and the channels they meet in."""

    owner: Speaker
    member: Speaker
    other: Speaker
    guest: Speaker
    bot: Speaker
    nobody: Speaker
    channel: Channel
    """Public; owner, member and other are subscribed, the guest is not."""
    private: Channel
    """The owner is in it, the member is not."""


@pytest.fixture(scope="session")
def cast(server: Server) -> Iterator[Cast]:
    with ExitStack() as stack:

        def speak(user: User | None) -> Speaker:
            return stack.enter_context(speaking(server, user))

        owner, member, other = speak(server.owner), speak(server.members[0]), speak(server.members[1])
        guest, bot = speak(server.guest), speak(server.bot)
        inside = {who: _channels(who) for who in (owner, member, other, guest)}
        open_to_all = [
            name
            for name, channel in inside[owner].items()
            if not channel["invite_only"]
            and name in inside[member]
            and name in inside[other]
            and name not in inside[guest]
        ]
        closed = [name for name, found in inside[owner].items() if found["invite_only"] and name not in inside[member]]
        channel, private = (Channel(inside[owner][names[0]]["stream_id"], names[0]) for names in (open_to_all, closed))
        yield Cast(owner, member, other, guest, bot, speak(None), channel, private)


def _channels(speaker: Speaker) -> dict[str, Json]:
    state = speaker.post("register", event_types=[], fetch_event_types=["subscription"])
    speaker.delete("events", queue_id=state["queue_id"])
    return {channel["name"]: channel for channel in state["subscriptions"]}


@pytest.fixture(scope="session")
def limits(cast: Cast) -> Json:
    """What POST /register says of the organization and the server: no limit is known otherwise."""
    with Queue(cast.member, event_types=[], fetch_event_types=["realm"]) as queue:
        return queue.state


@pytest.fixture
def empty_topic(limits: Json) -> str:
    """The display name of the empty topic."""
    name: str = limits["realm_empty_topic_display_name"]
    return name


@pytest.fixture
def owner(cast: Cast) -> Speaker:
    return cast.owner


@pytest.fixture
def member(cast: Cast) -> Speaker:
    return cast.member


@pytest.fixture
def other(cast: Cast) -> Speaker:
    return cast.other


@pytest.fixture
def guest(cast: Cast) -> Speaker:
    return cast.guest


@pytest.fixture
def bot(cast: Cast) -> Speaker:
    return cast.bot


@pytest.fixture
def nobody(cast: Cast) -> Speaker:
    return cast.nobody


@pytest.fixture
def newcomer(server: Server, cast: Cast) -> Iterator[Speaker]:
    """A member whom no other test knows, to be changed at will."""
    email, password = unique("newcomer").replace(" ", ".") + "@example.com", unique("Nobody guesses")
    cast.owner.post("users", email=email, password=password, full_name="New Comer")
    login = cast.nobody.post("fetch_api_key", username=email, password=password)
    with speaking(server, User(login["user_id"], email, password, login["api_key"], MEMBER)) as speaker:
        yield speaker


@pytest.fixture
def channel(cast: Cast) -> Channel:
    return cast.channel


@pytest.fixture
def private(cast: Cast) -> Channel:
    return cast.private
