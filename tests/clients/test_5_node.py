"""npm's `zulip-js`, and npm's `zulip` 0.1.0, which Hubot's adapter is made of."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tertulia.people.users.actions import create_api_key
from tests.clients.program import PROGRAMS, Program, clean_environment
from tests.harness.authenticator import give_factor
from tests.harness.browser import person
from tests.harness.passwords import PASSWORD
from tests.harness.server import OwnServer, User
from tests.harness.stage import Stage
from tests.harness.talk import Json

pytestmark = [pytest.mark.system, pytest.mark.clients]
JS = "JavaScript library `zulip-js`"
HUBOT = "Hubot's library `zulip` (npm)"
Run = Callable[..., Program]


@pytest.fixture
def run(node: Path, folder: Path) -> Iterator[Run]:
    """A script of ours that uses one of the libraries, with these options for it."""
    with ExitStack() as stack:

        def start(script: str, **options: str) -> Program:
            env = clean_environment(folder, NODE_PATH=str(node / "node_modules"), NODE_NO_WARNINGS="1")
            program = Program(["node", PROGRAMS / script, json.dumps(options)], env=env)
            return stack.enter_context(program)

        yield start


def call(client: Program, path: str, *arguments: Any) -> Json:
    answer = asked(client, path, *arguments)
    assert answer["result"] == "success", answer
    return answer


def asked(client: Program, path: str, *arguments: Any) -> Json:
    client.say(json.dumps([path, arguments]))
    return client.until(lambda line: "event" not in line)


def as_user(address: str, user: User) -> dict[str, str]:
    return {"realm": address, "username": user.email, "apiKey": user.api_key}


@pytest.mark.client(
    JS, "sends in a multipart body, PATCH and DELETE with their parameters in the query", package="npm zulip-js"
)
def test_zulip_js_sends_edits_and_reacts(address: str, stage: Stage, run: Run) -> None:
    me, other = stage.speaker(), stage.speaker()
    channel = stage.channel(me, other)
    js = run("zulip_js_calls.js", **as_user(address, me.user))
    js.line()
    sent = call(
        js, "messages.send", {"type": "stream", "to": channel.name, "topic": "lunch", "content": "Soup & bread?"}
    )
    assert other.message(sent["id"])["content"] == "<p>Soup &amp; bread?</p>"
    to_people = call(js, "messages.send", {"type": "private", "to": [other.email], "content": "Psst"})
    assert other.message(to_people["id"])["type"] == "private"
    call(js, "messages.update", {"message_id": sent["id"], "content": "Soup, then?"})
    assert other.message(sent["id"])["content"] == "<p>Soup, then?</p>"
    octopus = {
        "message_id": sent["id"],
        "emoji_name": "octopus",
        "emoji_code": "1f419",
        "reaction_type": "unicode_emoji",
    }
    call(js, "reactions.add", octopus)
    assert [it["emoji_name"] for it in other.message(sent["id"])["reactions"]] == ["octopus"]
    call(js, "reactions.remove", octopus)
    assert other.message(sent["id"])["reactions"] == []
    found = call(js, "messages.retrieve", {"anchor": "newest", "num_before": 10, "num_after": 0})
    assert [it["id"] for it in found["messages"]][-2:] == [sent["id"], to_people["id"]]


@pytest.mark.client(JS, "its other resources: channels, users, queues, typing, emoji", package="npm zulip-js")
def test_zulip_js_reads_and_changes(address: str, stage: Stage, run: Run) -> None:
    me = stage.speaker()
    channel = stage.channel(me)
    sent = me.send(channel.name, "lunch", "Soup")
    js = run("zulip_js_calls.js", **as_user(address, me.user))
    js.line()
    assert call(js, "users.me.getProfile")["user_id"] == me.id
    assert me.id in [it["user_id"] for it in call(js, "users.retrieve")["members"]]
    assert channel.name in [it["name"] for it in call(js, "streams.retrieve")["streams"]]
    assert call(js, "streams.getStreamId", channel.name)["stream_id"] == channel.stream_id
    assert channel.name in [it["name"] for it in call(js, "streams.subscriptions.retrieve")["subscriptions"]]
    topics = call(js, "streams.topics.retrieve", {"stream_id": channel.stream_id})["topics"]
    assert [it["name"] for it in topics] == ["lunch"]
    call(js, "users.me.subscriptions.remove", {"subscriptions": json.dumps([channel.name])})
    call(js, "users.me.subscriptions.add", {"subscriptions": json.dumps([{"name": channel.name}])})
    call(js, "messages.flags.add", {"messages": [sent], "flag": "starred"})
    assert "starred" in me.message(sent)["flags"]
    call(js, "messages.flags.remove", {"messages": [sent], "flag": "starred"})
    assert call(js, "messages.getById", {"message_id": sent})["raw_content"] == "Soup"
    assert len(call(js, "messages.getHistoryById", {"message_id": sent})["message_history"]) == 1
    assert call(js, "messages.render", "**bold**")["rendered"] == "<p><strong>bold</strong></p>"
    call(js, "typing.send", {"op": "start", "to": [me.id]})
    queue = call(js, "queues.register", {"event_types": ["message"]})
    call(js, "queues.deregister", {"queue_id": queue["queue_id"]})
    call(js, "emojis.retrieve")
    call(js, "server.settings")
    call(js, "filters.retrieve")
    # What the protocol has given up: an answer all the same, and one that the library can read.
    assert asked(js, "users.me.pointer.retrieve")["code"] == "NOT_FOUND"


@pytest.mark.client(JS, "`callOnEachEvent` delivers", package="npm zulip-js")
def test_zulip_js_hears_events(address: str, stage: Stage, run: Run) -> None:
    me, other = stage.speaker(), stage.speaker()
    js = run("zulip_js_calls.js", **as_user(address, me.user))
    js.line()
    js.say(json.dumps(["listen", []]))
    heard = js.until(lambda line: "event" in line)["event"]
    assert heard["type"] == "heartbeat"
    sent = other.send([me.id], content="Hello, script")
    heard = js.until(lambda line: line.get("event", {}).get("type") == "message")["event"]
    assert (heard["message"]["id"], heard["message"]["content"]) == (sent, "Hello, script")


@pytest.mark.client(JS, "logs in with a password", package="npm zulip-js")
def test_zulip_js_logs_in_with_a_password(server: OwnServer, address: str, run: Run) -> None:
    user = server.members[0]
    assert user.password
    js = run("zulip_js_calls.js", realm=address, username=user.email, password=user.password)
    assert len(json.loads(js.line())["key"]) == 32
    assert call(js, "users.me.getProfile")["user_id"] == user.user_id


@pytest.mark.client(JS, "does not log in with a password where there is a second factor", package="npm zulip-js")
def test_zulip_js_gets_no_key_by_a_password_where_there_is_a_second_factor(
    stage: Stage, address: str, run: Run
) -> None:
    user = person(stage)
    give_factor(stage, user.user_id)
    js = run("zulip_js_calls.js", realm=address, username=user.email, password=PASSWORD)
    assert json.loads(js.line()) == {}
    key = stage.write(lambda tx: create_api_key(tx, user.user_id, "zulip-js"))
    js = run("zulip_js_calls.js", realm=address, username=user.email, apiKey=key)
    assert json.loads(js.line())["key"] == key
    assert call(js, "users.me.getProfile")["user_id"] == user.user_id


@pytest.mark.client(
    HUBOT,
    "hears public channels, sends with a list as `to`, registers again when its queue is gone",
    package="npm zulip",
)
def test_the_library_of_hubot_talks_and_recovers(address: str, stage: Stage, run: Run) -> None:
    bot, person = stage.speaker(), stage.speaker()
    channel = stage.channel(person)
    hubot = run("hubot_calls.js", site=address, email=bot.email, api_key=bot.user.api_key)
    queue = hubot.until(lambda line: "registered" in line)["registered"]
    person.send(channel.name, "lunch", "hubot, soup?")
    heard = hubot.until(lambda line: "message" in line)["message"]
    assert (heard["type"], heard["display_recipient"], heard["subject"]) == ("stream", channel.name, "lunch")
    assert (heard["sender_email"], heard["sender_full_name"]) == (person.email, "Somebody New")

    hubot.say(json.dumps({"type": "stream", "to": [channel.name], "subject": "lunch", "content": "Soup."}))
    sent = hubot.until(lambda line: "sent" in line)["sent"]
    assert person.message(sent["id"])["client"] == "Hubot"
    hubot.say(json.dumps({"type": "private", "to": [person.email], "content": "Psst"}))
    assert hubot.until(lambda line: "sent" in line)["sent"]["result"] == "success"

    bot.delete("events", queue_id=queue)
    again = hubot.until(lambda line: "registered" in line)["registered"]
    assert again != queue
    sent_later = person.send(channel.name, "lunch", "hubot, bread?")
    heard = hubot.until(lambda line: line.get("message", {}).get("id") == sent_later)["message"]
    assert heard["content"] == "hubot, bread?"
