"""The programs of docs/how-to/write-a-bot.md, run as they are written there."""

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.program import Program, clean_environment, finished
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker

pytestmark = [pytest.mark.system, pytest.mark.clients]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-bot.md"


@pytest.fixture
def owner(stage: Stage) -> Speaker:
    return stage.speaker()


@pytest.fixture
def place(folder: Path) -> Path:
    """A folder with the page's programs, each under the name in its first line."""
    blocks = re.findall(r"```\w+\n(?:#|//) ([\w.-]+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert [name for name, _ in blocks] == ["make-bot.sh", "bot.py", "bot.js", "bot.sh", "server.py"]
    for name, text in blocks:
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def bot(place: Path, owner: Speaker, address: str) -> Iterator[int]:
    """The bot whose `botrc` is in the folder."""
    env = clean_environment(place, SITE=address, EMAIL=owner.email, KEY=owner.user.api_key)
    # Tests share an organization, in which names of bots are unique.
    script = (place / "make-bot.sh").read_text()
    own = script.replace("Counter", f"Counter {owner.id}").replace("=counter", f"=counter{owner.id}")
    done = finished(["sh", "-eu", "-c", own], env=env, cwd=place)
    assert done.returncode == 0, done.stderr + done.stdout
    [made] = owner.get("bots")["bots"]
    assert f"email={made['username']}\n" in (place / "botrc").read_text()
    yield made["user_id"]
    owner.delete(f"bots/{made['user_id']}")


def check_answers(program: Program, owner: Speaker, bot: int) -> None:
    """Ask until it listens: how long it takes to start is its own affair."""
    with owner.register() as queue:
        deadline = time.monotonic() + 30
        while True:
            assert time.monotonic() < deadline, program.told()
            owner.send([bot], content="how many words")
            for event in queue.poll(dont_block=True):
                message = event.get("message")
                if message and message["sender_id"] == bot:
                    assert message["content"] == "That is 3 words."
                    return
            time.sleep(0.3)


def check_answers_mention(stage: Stage, owner: Speaker, bot: int) -> None:
    channel = stage.channel(owner)
    owner.post("users/me/subscriptions", subscriptions=[{"name": channel.name}], principals=[bot])
    [(name,)] = stage.sql("select full_name from account where id = %s", bot)
    with owner.register() as queue:
        owner.send(channel.stream_id, "tea", "not for anybody")
        sent = owner.send(channel.stream_id, "tea", f"@**{name}|{bot}** how many")

        def is_answer(event: Json) -> bool:
            """Direct messages from before may be answered meanwhile."""
            message = event.get("message", {})
            return bool(message.get("sender_id") == bot and message["type"] == "stream" and message["id"] > sent)

        answer = queue.until(is_answer)[-1]["message"]
    words = len(f"@**{name}|{bot}** how many".split())
    assert (answer["subject"], answer["content"]) == ("tea", f"That is {words} words.")


def test_the_bot_in_python_answers(place: Path, bots: Path, bot: int, owner: Speaker, stage: Stage) -> None:
    with Program([bots / "python", "bot.py"], env=clean_environment(place), cwd=place) as program:
        check_answers(program, owner, bot)
        check_answers_mention(stage, owner, bot)


def test_the_bot_in_javascript_answers(place: Path, node: Path, bot: int, owner: Speaker, stage: Stage) -> None:
    env = clean_environment(place, NODE_PATH=str(node / "node_modules"), NODE_NO_WARNINGS="1")
    with Program(["node", "bot.js"], env=env, cwd=place) as program:
        check_answers(program, owner, bot)
        check_answers_mention(stage, owner, bot)


def test_the_bot_with_curl_answers(place: Path, bot: int, owner: Speaker) -> None:
    with Program(["bash", "-eu", "bot.sh"], env=clean_environment(place), cwd=place) as program:
        check_answers(program, owner, bot)


def test_the_server_of_an_outgoing_webhook_is_called(place: Path, owner: Speaker) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    url = json.dumps(f"http://127.0.0.1:{port}/")
    made = owner.post("bots", full_name=f"Hook {owner.id}", short_name=f"hook{owner.id}", bot_type=3, payload_url=url)
    state = owner.post("register", event_types=[], fetch_event_types=["realm_bot"])
    [token] = [bot["services"][0]["token"] for bot in state["realm_bots"] if bot["user_id"] == made["user_id"]]
    env = clean_environment(place, TOKEN=token, PORT=str(port))
    with Program(["python3", "server.py"], env=env, cwd=place) as program:
        check_answers(program, owner, made["user_id"])
    owner.delete(f"bots/{made['user_id']}")
