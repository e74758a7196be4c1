"""Programs that are not run here: their requests, byte by byte as the sheet of clients has them."""

import base64
import http.client
import json
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import pytest

from tests.harness.server import OwnServer, User
from tests.harness.stage import Stage, Web
from tests.harness.talk import Json, unique

pytestmark = [pytest.mark.system, pytest.mark.clients]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
GO = "matterbridge (gozulipbot), as raw requests"


class Answer(NamedTuple):
    status: int
    type: str
    body: bytes

    @property
    def json(self) -> Json:
        assert self.type == "application/json"
        found: Json = json.loads(self.body)
        return found


class Raw:
    """Sends exactly what it is given; nothing is escaped or added but what HTTP/1.1 asks for."""

    def __init__(self, url: str, user: User | None, **headers: str) -> None:
        self._host = urlsplit(url).netloc
        self._headers = dict(headers)
        if user:
            pair = base64.b64encode(f"{user.email}:{user.api_key}".encode()).decode()
            self._headers["Authorization"] = f"Basic {pair}"

    def ask(self, method: str, path: str, body: str | None = None) -> Answer:
        connection = http.client.HTTPConnection(self._host, timeout=30)
        try:
            headers = self._headers | (FORM if body is not None else {})
            connection.request(method, f"/api/v1/{path}", body, headers)
            reply = connection.getresponse()
            return Answer(reply.status, reply.getheader("Content-Type", ""), reply.read())
        finally:
            connection.close()

    def get(self, method: str, path: str, body: str | None = None) -> Json:
        answer = self.ask(method, path, body)
        assert answer.status == 200, answer
        return answer.json


@pytest.mark.client(
    GO, "unescaped bodies, GET with a body, three heartbeats, a message each way, edits, the empty one too"
)
def test_the_bridge_of_matterbridge_talks(address: str, stage: Stage) -> None:
    bot, person = stage.speaker(), stage.speaker()
    channel = stage.channel(person)
    go = Raw(address, bot.user, **{"User-Agent": "Go-http-client/1.1"})
    registered = go.get("POST", "register", 'event_types=["message"]&all_public_streams=true&narrow=[]')
    assert isinstance(registered["queue_id"], str)
    assert isinstance(registered["last_event_id"], int)
    assert channel.name in [it["name"] for it in go.get("GET", "streams", "unread=1")["streams"]]
    place, last = registered["queue_id"], registered["last_event_id"]

    def poll() -> list[Json]:
        nonlocal last
        events: list[Json] = go.get("GET", f"events?queue_id={place}&last_event_id={last}")["events"]
        assert events
        last = events[-1]["id"]
        return events

    for _ in range(3):
        before = last
        [beat] = poll()
        assert (beat["type"], beat["id"] >= before) == ("heartbeat", True)
    sent = person.send(channel.name, "lunch", "Soup, over there?")
    person.post(f"messages/{sent}/reactions", emoji_name="+1")  # no event of another kind may follow
    [message] = [
        event["message"] for event in next(batch for batch in iter(poll, None) if batch[0]["type"] == "message")
    ]
    read = ("sender_email", "sender_full_name", "sender_id", "content", "stream_id", "subject")
    assert tuple(message[key] for key in read) == (
        *(person.email, "Somebody New", person.id),
        *("Soup, over there?", channel.stream_id, "lunch"),
    )
    assert [event["type"] for event in poll()] == ["heartbeat"]

    go.get("PATCH", "users/me/subscriptions", f'add=[{{"name": "{channel.name}"}}]')
    fields = f"content=<a> Bread here&subject=lunch&to={quote(channel.name)}&type=stream"
    answer = go.get("POST", "messages", fields)["id"]
    assert person.message(answer)["content"] == "<p>&lt;a&gt; Bread here</p>"
    go.get("PATCH", f"messages/{answer}", "content=Bread, there")
    assert person.message(answer)["content"] == "<p>Bread, there</p>"
    go.get("PATCH", f"messages/{answer}", "content=")
    assert "Bread" not in person.message(answer)["content"]
    group = go.get("POST", "messages", f"content=Psst&to={person.email},{stage.speaker().email}&type=private")["id"]
    assert len(person.message(group)["display_recipient"]) == 3
    left = go.get("PATCH", "users/me/subscriptions", f'delete=["{channel.name}"]')
    assert left["removed"] == [channel.name]


@pytest.mark.client(GO, "a wrong key and a dead queue are said as it reads them")
def test_errors_are_said_as_the_bridge_reads_them(server: OwnServer, address: str, stage: Stage) -> None:
    person = stage.speaker()
    wrong = Raw(address, User(0, person.email, None, "x" * 32, 400)).ask("POST", "register", 'event_types=["message"]')
    assert (wrong.status, wrong.json["result"]) == (401, "error")
    gone = Raw(address, person.user).ask("GET", "events?queue_id=never:1&last_event_id=-1")
    assert (gone.status, gone.json["code"]) == (400, "BAD_EVENT_QUEUE_ID")
    assert gone.json["msg"].startswith("Bad event queue id:")


@pytest.mark.client(
    "zulip-archive, as raw requests", "a full crawl and an incremental one, waiting when told so by 429"
)
def test_an_archive_crawls_and_waits(server: OwnServer, stage: Stage, folder: Path) -> None:
    writer, reader = stage.speaker(), stage.speaker()
    channel = stage.channel(writer, reader)
    first = {writer.send(channel.name, f"topic {number % 3}", f"Line {number}") for number in range(9)}
    web = Web(server, folder, rate_limits="true", user_rate="4/1").wait()
    waits: list[float] = []
    try:
        raw = Raw(web.url, reader.user, **{"User-Agent": "ZulipPython/0.9.1 (Debian; 12)"})

        def patiently(path: str) -> Json:
            while (answer := raw.ask("GET", path)).status == 429:
                body = answer.json
                assert (body["code"], body["result"]) == ("RATE_LIMIT_HIT", "error")
                waits.append(body["retry-after"])
                time.sleep(body["retry-after"])
            assert answer.status == 200
            return answer.json

        def crawl(anchor: int) -> set[int]:
            """What is there after that message, topic by topic."""
            patiently("server_settings")
            [it] = [it for it in patiently("streams")["streams"] if it["name"] == channel.name]
            assert (it["invite_only"], it["is_web_public"]) == (False, False)
            found = set()
            for topic in patiently(f"users/me/{it['stream_id']}/topics")["topics"]:
                narrow = [
                    {"operator": "stream", "operand": channel.name},
                    {"operator": "topic", "operand": topic["name"]},
                ]
                asked = f"anchor={anchor}&num_before=0&num_after=1000&narrow={quote(json.dumps(narrow))}"
                answer = patiently(f"messages?{asked}&client_gravatar=true&apply_markdown=true")
                assert answer["found_newest"] is True
                assert all(message["subject"] == topic["name"] for message in answer["messages"])
                found |= {message["id"] for message in answer["messages"]}
            return found

        assert crawl(0) == first
        second = {writer.send(channel.name, "topic 1", "Later"), writer.send(channel.name, "new topic", "Later")}
        assert crawl(max(first) + 1) == second
    finally:
        web.stop()
    assert waits
    assert all(0 < wait <= 1 for wait in waits)


@pytest.mark.client("zulip-java-client, as raw requests", "DELETE with its parameters in the query")
def test_deleting_with_parameters_in_the_query(address: str, stage: Stage) -> None:
    person = stage.speaker()
    channel = stage.channel(person)
    sent = person.send(channel.name, "lunch", "Soup")
    java = Raw(address, person.user, **{"User-Agent": "Apache-HttpClient/5.1 (Java/17)"})
    registered = java.get("POST", "register", "fetch_event_types=%5B%22realm%22%5D&event_types=%5B%22message%22%5D")
    octopus = "emoji_name=octopus&emoji_code=1f419&reaction_type=unicode_emoji"
    java.get("POST", f"messages/{sent}/reactions", octopus)
    java.get("DELETE", f"messages/{sent}/reactions?{octopus}")
    assert person.message(sent)["reactions"] == []
    subscriptions = quote(json.dumps([channel.name]))
    assert java.get("DELETE", f"users/me/subscriptions?subscriptions={subscriptions}")["removed"] == [channel.name]
    java.get("DELETE", f"events?queue_id={quote(registered['queue_id'])}")
    gone = java.ask("GET", f"events?queue_id={quote(registered['queue_id'])}&last_event_id=-1")
    assert gone.json["code"] == "BAD_EVENT_QUEUE_ID"


@pytest.mark.client(
    "Healthchecks, shoutrrr, Gatus, as raw requests", "a form with a channel, an id, an address as `to`"
)
def test_notifiers_post_a_form(address: str, stage: Stage) -> None:
    person = stage.speaker()
    bot = stage.speaker(stage.user(bot_type=1))
    channel = stage.channel(person)
    notifier = Raw(address, bot.user)
    for fields in (
        f"type=stream&to={quote(channel.name)}&topic=status&content=DOWN",
        f"type=stream&to={channel.stream_id}&subject=status&content=DOWN",
        f"type=private&to={quote(person.email)}&content=DOWN",
        f"type=direct&to=%5B{person.id}%5D&content=DOWN",
        f"type=direct&to={person.id}&content=DOWN",
    ):
        answer = notifier.get("POST", "messages", fields)
        assert answer["result"] == "success"
        assert person.message(answer["id"])["content"] == "<p>DOWN</p>"


@pytest.mark.client("zulip-desktop, as raw requests", "HEAD and GET /server_settings; an unknown path is a JSON 404")
def test_what_a_desktop_asks_first(address: str) -> None:
    nobody = Raw(address, None)
    head = nobody.ask("HEAD", "server_settings")
    assert (head.status, head.type, head.body) == (200, "application/json", b"")
    settings = nobody.get("GET", "server_settings")
    assert settings["realm_uri"].startswith("http")
    assert isinstance(settings["realm_name"], str)
    assert isinstance(settings["realm_icon"], str)
    unknown = nobody.ask("GET", unique("nothing").replace(" ", "/"))
    assert (unknown.status, unknown.json["result"], unknown.json["code"]) == (404, "error", "NOT_FOUND")
