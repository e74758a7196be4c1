"""The mobile app of one person, as far as it can be acted here: what it sends, and that it can decode what it gets."""

from collections import Counter
from typing import Any

import httpx
import msgspec

from tests.system.mobile_app import Messages, OneMessage, ServerSettings, Snapshot, check
from tests.system.mobile_events import check_event
from tests.system.mobile_records import Json

PARAMETERS: Json = {
    "apply_markdown": True,
    "slim_presence": True,
    "client_gravatar": False,
    "client_capabilities": {
        "notification_settings_null": True,
        "bulk_message_deletion": True,
        "user_avatar_url_field_optional": False,
        "stream_typing_notifications": True,
        "user_settings_object": True,
        "include_deactivated_groups": True,
        "empty_topic_name": True,
        "archived_channels": True,
    },
    "idle_queue_timeout": '"mobile"',
}
USER_AGENT = "ZulipFlutter/30.0.274+274 (Android 14)"


class Phone:
    """The app of one person: registers as it does, and decodes all that it is told."""

    def __init__(self, http: httpx.AsyncClient, url: str, host: str, auth: httpx.BasicAuth) -> None:
        self._http = http
        self._url = f"{url}/api/v1/"
        self._headers = {"Host": host, "User-Agent": USER_AGENT}
        self._auth = auth
        self._queue: tuple[str, int] | None = None
        self.heard: Counter[str] = Counter()

    async def start(self) -> None:
        """Log in anew."""
        check(await self._ask("GET", "server_settings"), ServerSettings)
        body = await self._ask("POST", "register", **PARAMETERS)
        if body.get("code") == "UNAUTHORIZED":
            self._queue = None  # the account is deactivated
            return
        check(body, Snapshot)
        self.heard["snapshot"] += 1
        self._queue = body["queue_id"], body["last_event_id"]

    async def drain(self) -> None:
        """Take all that has come so far."""
        while self._queue is not None:
            queue_id, last = self._queue
            asked = {"queue_id": queue_id, "last_event_id": last, "dont_block": True}
            body = await self._ask("GET", "events", **asked)
            if body.get("code") in ("BAD_EVENT_QUEUE_ID", "UNAUTHORIZED"):
                await self.start()
                return
            for event in body["events"]:
                self.heard[check_event(event)] += 1
            if not body["events"]:
                return
            self._queue = queue_id, body["events"][-1]["id"]

    async def read(self) -> None:
        """Fetch what was said."""
        if self._queue is None:
            return
        asked = {"anchor": "newest", "num_before": 100, "num_after": 0, "client_gravatar": False}
        body = await self._ask("GET", "messages", **asked, apply_markdown=True, allow_empty_topic_name=True)
        if "messages" not in body:
            return
        check(body, Messages)
        for message in body["messages"][-3:]:
            one = await self._ask("GET", f"messages/{message['id']}", allow_empty_topic_name=True)
            if one["result"] == "success":
                check(one, OneMessage)
        self.heard["messages"] += len(body["messages"])

    async def do(self, method: str, path: str, **fields: Any) -> Json:
        """What the app's owner does, which must succeed."""
        body = await self._ask(method, path, **fields)
        assert body["result"] == "success", (method, path, body)
        return body

    async def upload(self, path: str, picture: bytes) -> None:
        """Send a file."""
        files = {"file": ("picture.png", picture, "image/png")}
        reply = await self._http.post(self._url + path, auth=self._auth, headers=self._headers, files=files)
        assert reply.status_code == 200, reply.text

    async def _ask(self, method: str, path: str, **fields: Any) -> Json:
        sent = {
            name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
            for name, value in fields.items()
        }
        given: Any = {"params": sent} if method == "GET" else {"data": sent}
        url = self._url + path
        reply = await self._http.request(method, url, auth=self._auth, headers=self._headers, **given)
        if reply.status_code == 503:
            return await self._ask(method, path, **fields)
        body: Json = reply.json()
        return body
