"""A town: an organization whose people act at random and all at once, each with some clients that listen.

What they do is in people_acts.py and own_acts.py; what their clients know, in people_model.py and own_model.py.
"""

import asyncio
import itertools
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import httpx
import msgspec

from tertulia.conversations.channels.actions import create_channel
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.actions import create_realm
from tertulia.people.users.actions import create_api_key, create_user
from tests.system import own_model, people_model
from tests.system.model_client import Json, Mismatch
from tests.system.own_model import OwnModel
from tests.system.people_model import PeopleModel

ROLES = (100, 200, 400, 400, 600)
ACTS = 10
_names = (f"people{os.getpid()}x{number}" for number in itertools.count(1))


class Person(NamedTuple):
    user_id: int
    key: str


class Client:
    """One registration. It is over when the server says so: somebody's role, activity or sight has changed."""

    def __init__(self, person: int, body: Json) -> None:
        self.person = person
        self.queue_id: str = body["queue_id"]
        self.last: int = body["last_event_id"]
        self.models = (PeopleModel(body), OwnModel(body))
        self.is_over = False
        self.heard: list[Json] = []
        self.polling = asyncio.Lock()
        """One poll at a time: two from the same place would both bring what is new."""

    def take(self, events: list[Json]) -> None:
        for event in events:
            self.last = max(self.last, event["id"])
            if event["type"] == "heartbeat":
                continue
            self.heard.append(event)
            for model in self.models:
                model.apply(event)

    def differences(self, fresh: "Client") -> list[str]:
        """What a fresh registration says differently."""
        (people, own), (their_people, their_own) = self.models, fresh.models
        return [*people.differences(their_people), *own.differences(their_own)]


class Town:
    """One history under way."""

    def __init__(self, seed: int, http: httpx.AsyncClient, urls: list[str], database: Database) -> None:
        self.chance = random.Random(seed)
        self.http = http
        self.urls = urls
        self.database = database
        self.story: list[str] = []
        self.clients: list[Client] = []
        self.bots: list[int] = []
        self.fields: list[int] = []
        self.own: dict[str, list[int]] = {}
        """What people keep for themselves, and messages: ids by kind."""
        self.numbers = itertools.count(1)
        self.does_without = self.chance.random() < 0.5
        """Whether its clients do without those whom a guest does not see."""

    async def make(self) -> None:
        self.subdomain = next(_names)
        self.emails: list[str] = []
        async with self.database.transaction() as tx:
            self.realm_id = await create_realm(tx, self.subdomain, "Town")
            self.people = []
            for number, role in enumerate(ROLES):
                self.emails.append(f"p{number}@example.com")
                user_id = await create_user(tx, self.realm_id, self.emails[-1], f"Person {number}", role)
                self.people.append(Person(user_id, await create_api_key(tx, user_id)))
            self.channels = [await create_channel(tx, self.realm_id, f"channel {number}") for number in range(2)]
        groups = (await self.call(0, "GET", "user_groups"))["user_groups"]
        self.groups = {group["name"]: group["id"] for group in groups}
        if self.chance.random() < 0.5:
            await self.limit(True)

    async def log_in_again(self, who: int) -> None:
        """A new key for somebody who may have been away: the old ones ended."""
        user_id = self.people[who].user_id
        try:
            async with self.database.transaction() as tx:
                self.people[who] = Person(user_id, await create_api_key(tx, user_id))
        except Refusal:
            return  # still away, or with keys enough

    async def call(self, who: int, method: str, path: str, **fields: Any) -> Json:
        data = {name: value if isinstance(value, str) else to_json(value) for name, value in fields.items()}
        return await self._ask(who, method, path, {"params" if method == "GET" else "data": data})

    async def upload(self, who: int, path: str, picture: bytes) -> Json:
        return await self._ask(who, "POST", path, {"files": {"file": ("picture.png", picture, "image/png")}})

    async def _ask(self, who: int, method: str, path: str, given: Json) -> Json:
        url = f"{self.chance.choice(self.urls)}/api/v1/{path}"
        auth = httpx.BasicAuth(self.emails[who], self.people[who].key)
        headers = {"Host": f"{self.subdomain}.localhost"}
        reply = await self.http.request(method, url, auth=auth, headers=headers, **given)
        body: Json = reply.json()
        if reply.status_code == 503 and path in ("register", "events", "user_groups"):
            return await self._ask(who, method, path, given)  # a busy machine
        if reply.status_code not in (200, 400, 401, 503) or "the same things at the same time" in body["msg"]:
            raise Mismatch(f"{method} {path} {given}: {reply.status_code} {body}")
        return body

    async def run(self, who: int, acts: "Sequence[Act]") -> None:
        await self.register(who)
        for _ in range(ACTS):
            act = self.chance.choice(acts)
            said = await act(self, who)
            self.story.append(f"person {who}: {act.__name__} -> {said}")
            if self.chance.random() < 0.2:
                await self.register(who)
            if self.clients and self.chance.random() < 0.3:
                await self.poll(self.chance.choice([one for one in self.clients if one.person == who] or self.clients))

    async def register(self, who: int) -> Client | None:
        types = [*people_model.TYPES, *own_model.TYPES]
        asked: Json = {"event_types": [*types, "message"], "fetch_event_types": [*types, *own_model.FIXED]}
        chosen = {"individual_emoji_changes": self.chance.random() < 0.5, "user_list_incomplete": self.does_without}
        asked["client_capabilities"] = own_model.CAPABILITIES | chosen
        body = await self.call(who, "POST", "register", slim_presence=True, **asked)
        if "queue_id" not in body:
            return None
        self.clients.append(Client(who, body))
        return self.clients[-1]

    async def poll(self, client: Client) -> None:
        async with client.polling:
            await self._poll(client)

    async def _poll(self, client: Client) -> None:
        if client.is_over:
            return
        asked = {"queue_id": client.queue_id, "last_event_id": client.last, "dont_block": True}
        body = await self.call(client.person, "GET", "events", **asked)
        if body["result"] == "success":
            client.take(body["events"])
        elif body["code"] in ("BAD_EVENT_QUEUE_ID", "UNAUTHORIZED"):
            client.is_over = True
        else:
            raise Mismatch(str(body))

    async def check(self) -> None:
        old, self.clients = self.clients, []
        for who in range(len(self.people)):
            sent = await self.call(who, "POST", "messages", type="direct", to=[self.people[who].user_id], content="end")
            fresh = await self.register(who)
            if fresh is None:
                continue
            for client in [one for one in old if one.person == who]:
                while not client.is_over and sent["id"] not in [
                    event["message"]["id"] for event in client.heard if event["type"] == "message"
                ]:
                    await self.poll(client)
                if not client.is_over:
                    await self.ping(client)
                if not client.is_over and (found := client.differences(fresh)):
                    heard = "\n".join(str(event) for event in client.heard)
                    raise Mismatch(f"person {who} (user {self.people[who].user_id}): {found}\nheard:\n{heard}")

    async def ping(self, client: Client) -> None:
        """As clients do to learn who is there: events tell only of returns."""
        own = client.models[1]
        asked = {"status": "active", "last_update_id": own.last_presence, "slim_presence": True}
        own.ping(await self.call(client.person, "POST", "users/me/presence", **asked))

    # What people do

    async def limit(self, limited: bool | None = None) -> str:
        limited = self.chance.random() < 0.5 if limited is None else limited
        new = {"new": self.groups["role:members" if limited else "role:everyone"]}
        return str(await self.call(0, "PATCH", "realm", can_access_all_users_group=new))

    def somebody(self) -> int:
        return self.chance.choice(self.people).user_id


Act = Callable[[Town, int], Awaitable[Any]]


def to_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
