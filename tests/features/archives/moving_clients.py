"""Clients that never stop: they send and poll through one address, whoever answers there."""

import threading
import time
from typing import Any

import httpx

from tests.harness.talk import Json, Speaker, encoded

PAUSE_SECONDS = 0.1
"""Between two tries: less than they are told to wait, so that the wait that is measured is the server's."""


class Client(threading.Thread):
    """Something that goes on until it is told to stop."""

    def __init__(self, speaker: Speaker) -> None:
        super().__init__(name=f"client of {speaker.id}")
        self._speaker = speaker
        self._stopping = threading.Event()
        self.problem: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                self.step()
        except BaseException as problem:
            self.problem = problem

    def step(self) -> None:
        raise NotImplementedError

    def ask_to_stop(self) -> None:
        self._stopping.set()

    def stop(self) -> None:
        self.ask_to_stop()
        self.join(60)
        if self.problem is not None:
            raise self.problem

    def asked(self, method: str, path: str, headers: dict[str, str] | None = None, **fields: Any) -> Json | None:
        """The answer; None: nobody can answer at this moment."""
        said = encoded(fields)
        query, form = (said, None) if method == "GET" else (None, said)
        try:
            reply = self._speaker.http.request(method, path, headers=headers, params=query, data=form, timeout=20)
        except httpx.TransportError:
            return None
        if reply.status_code in (502, 503):
            assert "retry-after" in reply.headers
            return None
        found: Json = reply.json()
        return found


class Sender(Client):
    """Sends one message after the other, each until it is there."""

    def __init__(self, speaker: Speaker, channel_id: int) -> None:
        super().__init__(speaker)
        self._fields = {"type": "channel", "to": channel_id, "topic": "moving"}
        self.sent: list[tuple[str, int]] = []
        self.longest = 0.0

    def step(self) -> None:
        content, began = f"{self._speaker.id} says {len(self.sent)}", time.monotonic()
        key = {"Idempotency-Key": content}
        while (answer := self.asked("POST", "messages", key, **self._fields, content=content)) is None:
            time.sleep(PAUSE_SECONDS)
        assert answer["result"] == "success", answer
        self.longest = max(self.longest, time.monotonic() - began)
        self.sent.append((content, answer["id"]))
        time.sleep(0.02)


class Listener(Client):
    """Polls; registers again when its queue is gone, and asks for what it missed."""

    def __init__(self, speaker: Speaker, channel_id: int) -> None:
        super().__init__(speaker)
        self._channel_id = channel_id
        self._queue: Json | None = None
        self.heard: list[tuple[str, int]] = []
        self.ended: list[str] = []

    def step(self) -> None:
        if self._queue is None:
            self._register()
            return
        about = {"queue_id": self._queue["queue_id"], "last_event_id": self._queue["last_event_id"]}
        answer = self.asked("GET", "events", **about)
        if answer is None:
            time.sleep(PAUSE_SECONDS)
        elif answer["result"] == "error":
            assert answer["code"] == "BAD_EVENT_QUEUE_ID", answer
            self.ended.append(answer["code"])
            self._queue = None
        else:
            for event in answer["events"]:
                self._queue["last_event_id"] = event["id"]
                if event["type"] == "message":
                    self._hear(event["message"])

    def _register(self) -> None:
        answer = self.asked("POST", "register", event_types=["message"], apply_markdown=False)
        if answer is None:
            time.sleep(PAUSE_SECONDS)
            return
        assert answer["result"] == "success", answer
        self._queue = answer
        if not self.heard:
            return
        narrow = [{"operator": "channel", "operand": self._channel_id}]
        newest = self.heard[-1][1]
        missed: dict[str, Any] = {
            "anchor": newest,
            "include_anchor": False,
            "num_before": 0,
            "num_after": 5000,
            "narrow": narrow,
        }
        while (found := self.asked("GET", "messages", **missed, apply_markdown=False)) is None:
            time.sleep(PAUSE_SECONDS)
        for message in found["messages"]:
            self._hear(message)

    def _hear(self, message: Json) -> None:
        if not self.heard or message["id"] > self.heard[-1][1]:
            self.heard.append((message["content"], message["id"]))
