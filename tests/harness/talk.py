"""Talking to a server as a client of its protocol does: nothing here knows how the server is made.

A `Speaker` is a user with a connection; a `Queue` is an event queue of theirs. Every answer is checked for the envelope
that the protocol promises, so that a test states only what is special about it.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from tests.harness.server import Server, User

Json = dict[str, Any]
_background = ThreadPoolExecutor(32, thread_name_prefix="talk")


def unique(word: str) -> str:
    """A name nobody has used: tests share a server."""
    return f"{word} {secrets.token_hex(4)}"


def eventually(is_so: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something is so that nobody is told of: what a worker does by itself, or who waits for whom."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.03)


def encoded(fields: Mapping[str, object]) -> dict[str, str]:
    """Fields as they travel: texts raw, everything else as JSON, None left out."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in fields.items()
        if value is not None
    }


def check_success(reply: httpx.Response) -> Json:
    """The body of a success."""
    assert reply.status_code == 200, reply.text
    body: Json = reply.json()
    assert (body["result"], body["msg"]) == ("success", "")
    assert reply.headers["content-type"] == "application/json"
    return body


def check_error(reply: httpx.Response, code: str = "BAD_REQUEST", status: int = 400, **extra: object) -> str:
    """The text of an error with exactly this code, status and extra keys."""
    body: Json = reply.json()
    assert (reply.status_code, body["result"], body["code"]) == (status, "error", code), reply.text
    assert reply.headers["content-type"] == "application/json"
    msg = body["msg"]
    assert isinstance(msg, str)
    assert msg
    assert body == {"result": "error", "msg": msg, "code": code, **extra}
    return msg


class Speaker:
    """Somebody, or nobody, with a connection to a server."""

    def __init__(self, server: Server, user: User | None, *, url: str | None = None, host: str | None = None) -> None:
        self.http = server.client(user, url=url)
        if host is not None:
            self.http.headers["host"] = host
        self._user = user

    @property
    def user(self) -> User:
        assert self._user is not None
        return self._user

    @property
    def id(self) -> int:
        return self.user.user_id

    @property
    def email(self) -> str:
        return self.user.email

    def request(self, method: str, path: str, **fields: Any) -> httpx.Response:
        """GET parameters travel in the query string, others as form fields."""
        if method in ("GET", "HEAD", "OPTIONS"):
            return self.http.request(method, path, params=encoded(fields))
        return self.http.request(method, path, data=encoded(fields))

    def get(self, path: str, **fields: Any) -> Json:
        return check_success(self.request("GET", path, **fields))

    def post(self, path: str, **fields: Any) -> Json:
        return check_success(self.request("POST", path, **fields))

    def delete(self, path: str, **fields: Any) -> Json:
        return check_success(self.request("DELETE", path, **fields))

    def later(self, method: str, path: str, **fields: Any) -> "Future[httpx.Response]":
        """A request in the background; every other one goes on meanwhile."""
        return _background.submit(self.request, method, path, **fields)

    def send(self, to: object, topic: str | None = None, content: str = "Hello", **more: Any) -> int:
        """Send to a channel if there is a topic, else to people; the message's id."""
        kind = "direct" if topic is None else "channel"
        fields: Json = {"type": kind, "to": to, "topic": topic, "content": content, **more}
        sent = self.post("messages", **fields)["id"]
        assert isinstance(sent, int)
        return sent

    def window(self, anchor: object = "newest", before: int = 0, after: int = 0, **more: Any) -> Json:
        """GET /messages."""
        return self.get("messages", anchor=anchor, num_before=before, num_after=after, **more)

    def message(self, message_id: int, **more: Any) -> Json:
        """One message, as this user sees it."""
        [found] = self.window(message_id, **more)["messages"]
        assert found["id"] == message_id
        message: Json = found
        return message

    def unread(self) -> Json:
        """`unread_msgs` as of now."""
        types = ["message", "update_message_flags"]
        capabilities = {"notification_settings_null": True, "empty_topic_name": True}
        state = self.post("register", event_types=[], fetch_event_types=types, client_capabilities=capabilities)
        self.delete("events", queue_id=state["queue_id"])
        found: Json = state["unread_msgs"]
        return found

    def register(self, **options: Any) -> "Queue":
        """A queue of message events, with no state unless the options say otherwise."""
        return Queue(self, **{"event_types": ["message"], "fetch_event_types": [], **options})


class Queue:
    """An event queue. Polling acknowledges what earlier polls brought."""

    def __init__(self, speaker: Speaker, **options: Any) -> None:
        self.speaker = speaker
        self.state = speaker.post("register", **options)
        self.id: str = self.state["queue_id"]
        self.last: int = self.state["last_event_id"]

    def __enter__(self) -> "Queue":
        return self

    def __exit__(self, *_: object) -> None:
        self.speaker.request("DELETE", "events", queue_id=self.id)

    def request(self, speaker: Speaker | None = None, **fields: Any) -> httpx.Response:
        """GET /events from where the queue is, unless the fields say otherwise."""
        asked = {"queue_id": self.id, "last_event_id": self.last, **fields}
        return (speaker or self.speaker).request("GET", "events", **asked)

    def later(self, **fields: Any) -> "Future[httpx.Response]":
        """A poll in the background. It acknowledges, but what it brings is left unacknowledged."""
        return _background.submit(self.request, **fields)

    def poll(self, speaker: Speaker | None = None, **fields: Any) -> list[Json]:
        """The next events; waits for one unless `dont_block`."""
        events: list[Json] = check_success(self.request(speaker, **fields))["events"]
        ids = [event["id"] for event in events]
        assert ids == sorted(ids)
        self.last = max([self.last, *ids])
        return events

    def until(self, is_last: Callable[[Json], bool], speaker: Speaker | None = None) -> list[Json]:
        """All events up to the first one of that kind, heartbeats left out."""
        found: list[Json] = []
        while True:
            for event in self.poll(speaker):
                if event["type"] != "heartbeat":
                    found.append(event)
                if is_last(event):
                    return found

    def until_message(self, message_id: int, speaker: Speaker | None = None) -> list[Json]:
        """All events up to that message's."""
        return self.until(lambda event: is_message(event, message_id), speaker)

    def check_ends(self) -> None:
        """It ends in a moment: who changed what it may hear was answered before the queue was told."""
        while (reply := self.request()).status_code == 200:
            self.last = max([self.last, *(event["id"] for event in reply.json()["events"])])
        check_error(reply, "BAD_EVENT_QUEUE_ID", queue_id=self.id)

    def message_event(self, message_id: int) -> Json:
        """The event of that message."""
        return self.until_message(message_id)[-1]

    def so_far(self, speaker: Speaker | None = None) -> list[Json]:
        """All events of what has happened until now: up to a message the user sends to themselves."""
        mark = self.speaker.send([self.speaker.id], content="mark")
        return self.until_message(mark, speaker)[:-1]


def is_message(event: Json, message_id: int) -> bool:
    """Whether this is the event of that message."""
    return bool(event["type"] == "message" and event["message"]["id"] == message_id)


def message_ids(events: list[Json]) -> list[int]:
    """The messages among events."""
    return [event["message"]["id"] for event in events if event["type"] == "message"]


@contextmanager
def speaking(
    server: Server, user: User | None, *, url: str | None = None, host: str | None = None
) -> Iterator[Speaker]:
    """A speaker whose connections are closed at the end."""
    speaker = Speaker(server, user, url=url, host=host)
    try:
        yield speaker
    finally:
        speaker.http.close()
