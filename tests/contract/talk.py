"""Short words for what the contract tests do all the time."""

from typing import Any

import httpx

Body = dict[str, Any]


def success(reply: httpx.Response) -> Body:
    """The body of a reply that must be a success."""
    body: Body = reply.json()
    assert (reply.status_code, body["result"], body["msg"]) == (200, "success", ""), reply.text
    return body


def refusal(reply: httpx.Response, code: str = "BAD_REQUEST", status: int = 400, **extra: object) -> str:
    """The text of a reply that must be this error with exactly these extra keys."""
    body: Body = reply.json()
    assert (reply.status_code, body["result"], body["code"]) == (status, "error", code), reply.text
    assert isinstance(body["msg"], str)
    assert body["msg"]
    assert {key: value for key, value in body.items() if key not in ("result", "msg", "code")} == extra
    return body["msg"]


def send(
    sender: httpx.Client, to: object, topic: str | None = "contract", content: str = "hello", **more: object
) -> Body:
    """Send a channel message that must succeed."""
    fields = {"type": "channel", "to": to, "content": content, **more} | ({} if topic is None else {"topic": topic})
    return success(sender.post("messages", data=fields))


def fetch(reader: httpx.Client, message_id: int, **more: str) -> Body:
    """One message as the reader sees it."""
    query: dict[str, str | int] = {"anchor": message_id, "num_before": 0, "num_after": 0, **more}
    messages = success(reader.get("messages", params=query))["messages"]
    return next(message for message in messages if message["id"] == message_id)


class Ears:
    """An event queue of one client."""

    def __init__(self, client: httpx.Client, **parameters: object) -> None:
        self._client = client
        self.state = success(client.post("register", data=parameters))
        self.queue_id = self.state["queue_id"]
        self.last_event_id = self.state["last_event_id"]

    def hear(self) -> list[Body]:
        """The next events; waits until there are some."""
        query = {"queue_id": self.queue_id, "last_event_id": self.last_event_id}
        events: list[Body] = success(self._client.get("events", params=query))["events"]
        self.last_event_id = events[-1]["id"]
        return events

    def hear_message(self, message_id: int) -> Body:
        """The event of that message; what comes before it is passed over."""
        while True:
            for event in self.hear():
                if event["type"] == "message" and event["message"]["id"] == message_id:
                    return event
