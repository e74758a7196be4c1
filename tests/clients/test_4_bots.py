"""`zulip-run-bot` and `zulip-botserver` with the bots that come with them. Nothing of them is changed."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tertulia.engines import free_port
from tests.clients.front import Front
from tests.clients.program import Program, clean_environment, write_rc
from tests.harness.server import MEMBER, Channel, OwnServer, User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, unique

pytestmark = [pytest.mark.system, pytest.mark.clients]
RunBot = Callable[[str, User], Program]


@pytest.fixture
def run_bot(bots: Path, front: Front, folder: Path) -> Iterator[RunBot]:
    """A bot that comes with zulip_bots, once it listens."""
    with ExitStack() as stack:

        def start(name: str, user: User) -> Program:
            rc = write_rc(folder / f"{name}rc", front.url, user)
            program = Program([bots / "zulip-run-bot", name, "--config-file", rc], env=clean_environment(folder))
            stack.enter_context(program)
            front.until_asked("GET /api/v1/events")
            return program

        yield start


def made_bot(owner: Speaker, **options: object) -> User:
    """A bot as a person makes it."""
    name = unique("bot").replace(" ", "")
    made = owner.post("bots", full_name=name, short_name=name, **options)
    [email] = [it["username"] for it in owner.get("bots")["bots"] if it["user_id"] == made["user_id"]]
    return User(made["user_id"], email, None, made["api_key"], MEMBER)


@pytest.mark.client(
    "`zulip-run-bot` helloworld", "answers a mention and a direct message, and reacts", package="zulip-bots"
)
def test_helloworld_answers_and_reacts(stage: Stage, run_bot: RunBot) -> None:
    person = stage.speaker()
    bot = made_bot(person)
    channel = stage.channel(person, stage.speaker(bot))
    run_bot("helloworld", bot)
    with Queue(person, event_types=["message", "reaction"], fetch_event_types=[]) as queue:
        check_hello(person, bot, channel, queue)


@pytest.mark.client(
    "`zulip-run-bot` incrementor", "keeps its number in storage, edits its message", package="zulip-bots"
)
def test_incrementor_counts_in_one_message(stage: Stage, run_bot: RunBot) -> None:
    person = stage.speaker()
    bot = made_bot(person)
    run_bot("incrementor", bot)
    with Queue(person, event_types=["message", "update_message"], fetch_event_types=[]) as queue:
        person.send([bot.user_id], content="up")
        [first] = [it["message"] for it in queue.until(lambda it: is_by(it, bot)) if is_by(it, bot)]
        assert first["content"] == "1"
        person.send([bot.user_id], content="up")
        edited = queue.until(lambda it: it["type"] == "update_message")[-1]
        assert (edited["message_id"], edited["content"]) == (first["id"], "2")


@pytest.mark.client("`zulip-run-bot` file_uploader", "uploads a file and links to it", package="zulip-bots")
def test_file_uploader_uploads(server: OwnServer, stage: Stage, run_bot: RunBot, folder: Path) -> None:
    person = stage.speaker()
    bot = made_bot(person)
    file = folder / "menu.txt"
    file.write_text("Soup, bread")
    run_bot("file_uploader", bot)
    with Queue(person, event_types=["message"], fetch_event_types=[]) as queue:
        person.send([bot.user_id], content=str(file))
        answer = queue.until(lambda it: is_by(it, bot))[-1]["message"]["content"]
    found = re.fullmatch(r"\[menu\.txt\]\((/user_uploads/\S+)\)", answer)
    assert found, answer
    downloaded = person.http.get(f"{server.url}{found[1]}", follow_redirects=True)
    assert (downloaded.status_code, downloaded.text) == (200, "Soup, bread")


@pytest.mark.client(
    "`zulip-botserver`", "an outgoing-webhook bot answers a mention and a direct message", package="zulip-botserver"
)
def test_the_botserver_answers_for_a_bot(bots: Path, address: str, stage: Stage, folder: Path) -> None:
    person = stage.speaker()
    port = free_port()
    bot = made_bot(person, bot_type=3, payload_url=json.dumps(f"http://127.0.0.1:{port}/"))
    state = person.post("register", event_types=[], fetch_event_types=["realm_bot"])
    [token] = [it["services"][0]["token"] for it in state["realm_bots"] if it["user_id"] == bot.user_id]
    channel = stage.channel(person, stage.speaker(bot))
    rc = folder / "botserverrc"
    rc.write_text(f"[helloworld]\nemail={bot.email}\nkey={bot.api_key}\nsite={address}\ntoken={token}\n")
    command = [bots / "zulip-botserver", "--config-file", rc, "--port", port]
    with (
        Program(command, env=clean_environment(folder)) as botserver,
        Queue(person, event_types=["message", "reaction"], fetch_event_types=[]) as queue,
    ):
        botserver.until_error("Running on")
        check_hello(person, bot, channel, queue)


def check_hello(person: Speaker, bot: User, channel: Channel, queue: Queue) -> None:
    """The bot answers in a channel and alone."""
    asked = person.send(channel.name, "lunch", f"@**{name_of(person, bot)}** hello")
    answer, reaction = answers(queue, bot)
    assert (answer["content"], answer["subject"], answer["stream_id"]) == ("beep boop", "lunch", channel.stream_id)
    assert (reaction["message_id"], reaction["emoji_name"]) == (asked, "wave")
    person.send([bot.user_id], content="hello")
    answer, _ = answers(queue, bot)
    assert (answer["content"], answer["type"]) == ("beep boop", "private")


def name_of(person: Speaker, bot: User) -> str:
    return str(person.get(f"users/{bot.user_id}")["user"]["full_name"])


def is_by(event: Json, bot: User) -> bool:
    return bool(event["type"] == "message" and event["message"]["sender_id"] == bot.user_id)


def answers(queue: Queue, bot: User) -> tuple[Json, Json]:
    """The bot's message and its reaction."""
    events = queue.until(lambda it: it["type"] == "reaction")
    [message] = [it["message"] for it in events if is_by(it, bot)]
    return message, events[-1]
