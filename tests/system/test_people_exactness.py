"""State at registration + events = state at a later registration: people, bots, profiles, settings, sight of guests.

Several people act at random and all at once, on two web processes; each registers now and then. A failure shows the
seed and what everybody did; timing decides, so a seed alone does not bring it back.
"""

import asyncio
import itertools
import os
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
import uvloop

from tertulia.channels.actions import create_channel, subscribe, unsubscribe
from tertulia.kernel.db import Database
from tertulia.realms.actions import create_realm
from tertulia.users.actions import create_api_key, create_user
from tests.server import Server
from tests.system.model_client import Json, Mismatch
from tests.system.people_model import TYPES, PeopleModel
from tests.system.web_process import second_web

pytestmark = [pytest.mark.system, pytest.mark.slow]

# A longer run: TERTULIA_HISTORIES=5000 bin/test tests/system/test_people_exactness.py --timeout 36000
HISTORIES = int(os.environ.get("TERTULIA_HISTORIES", "210")) // 7
ROLES = (100, 200, 400, 400, 600)
ACTS = 8
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
        self.model = PeopleModel(body)
        self.is_over = False
        self.heard: list[Json] = []
        self.polling = asyncio.Lock()
        """One poll at a time: two from the same place would both bring what is new."""

    def take(self, events: list[Json]) -> None:
        for event in events:
            self.last = max(self.last, event["id"])
            if event["type"] != "heartbeat":
                self.heard.append(event)
                self.model.apply(event)


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
        self.numbers = itertools.count(1)

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

    async def call(self, who: int, method: str, path: str, **fields: Any) -> Json:
        url = f"{self.chance.choice(self.urls)}/api/v1/{path}"
        data = {name: value if isinstance(value, str) else _json(value) for name, value in fields.items()}
        given: Any = {"params": data} if method == "GET" else {"data": data}
        auth = httpx.BasicAuth(self.emails[who], self.people[who].key)
        headers = {"Host": f"{self.subdomain}.localhost"}
        reply = await self.http.request(method, url, auth=auth, headers=headers, **given)
        body: Json = reply.json()
        if reply.status_code == 503 and path in ("register", "events", "user_groups"):
            return await self.call(who, method, path, **fields)  # a busy machine
        if reply.status_code not in (200, 400, 401, 503):
            raise Mismatch(f"{method} {path} {data}: {reply.status_code} {body}")
        return body

    async def run(self, who: int) -> None:
        await self.register(who)
        for _ in range(ACTS):
            act = self.chance.choice(_ACTS)
            said = await act(self, who)
            self.story.append(f"person {who}: {act.__name__} -> {said}")
            if self.chance.random() < 0.2:
                await self.register(who)
            if self.clients and self.chance.random() < 0.3:
                await self.poll(self.chance.choice([one for one in self.clients if one.person == who] or self.clients))

    async def register(self, who: int) -> Client | None:
        types = [*TYPES, "message"]
        body = await self.call(who, "POST", "register", event_types=types, fetch_event_types=TYPES)
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
                if not client.is_over and (found := client.model.differences(fresh.model)):
                    heard = "\n".join(str(event) for event in client.heard)
                    raise Mismatch(f"person {who} (user {self.people[who].user_id}): {found}\nheard:\n{heard}")

    # What people do

    async def limit(self, limited: bool | None = None) -> str:
        limited = self.chance.random() < 0.5 if limited is None else limited
        new = {"new": self.groups["role:members" if limited else "role:everyone"]}
        return str(await self.call(0, "PATCH", "realm", can_access_all_users_group=new))

    def somebody(self) -> int:
        return self.chance.choice(self.people).user_id


Act = Callable[[Town, int], Awaitable[Any]]


async def rename(town: Town, _who: int) -> Any:
    return await town.call(0, "PATCH", f"users/{town.somebody()}", full_name=f"Name {next(town.numbers)}")


async def rename_oneself(town: Town, who: int) -> Any:
    return await town.call(who, "PATCH", "settings", full_name=f"Own {next(town.numbers)}")


async def hide(town: Town, who: int) -> Any:
    return await town.call(who, "PATCH", "settings", email_address_visibility=town.chance.choice([1, 2, 3, 4, 5]))


async def travel(town: Town, who: int) -> Any:
    return await town.call(who, "PATCH", "settings", timezone=town.chance.choice(["", "Europe/Madrid", "Asia/Tokyo"]))


async def choose(town: Town, who: int) -> Any:
    chosen = {"color_scheme": town.chance.choice([1, 2, 3]), "enter_sends": town.chance.random() < 0.5}
    return await town.call(who, "PATCH", "settings", **chosen)


async def decide_defaults(town: Town, _who: int) -> Any:
    chosen = {"email_address_visibility": town.chance.choice([1, 3]), "enter_sends": town.chance.random() < 0.5}
    return await town.call(0, "PATCH", "realm/user_settings_defaults", **chosen)


async def decide(town: Town, _who: int) -> Any:
    chosen: Json = town.chance.choice([
        {"name": town.chance.choice(["Town", "City"]), "enable_read_receipts": town.chance.random() < 0.5},
        {"message_content_edit_limit_seconds": town.chance.choice([60, "unlimited"]), "allow_message_editing": False},
        {"topics_policy": town.chance.choice(["allow_empty_topic", "disable_empty_topic"])},
        {"message_edit_history_visibility_policy": town.chance.choice(["all", "none"]), "digest_weekday": 2},
        {"waiting_period_threshold": town.chance.choice([0, 3])},
    ])  # fmt: skip
    chosen = {name: _json(value) if value == "unlimited" else value for name, value in chosen.items()}
    return await town.call(town.chance.choice([0, 1]), "PATCH", "realm", **chosen)


async def limit(town: Town, _who: int) -> Any:
    return await town.limit() if town.chance.random() < 0.3 else "not this time"


async def add_domain(town: Town, _who: int) -> Any:
    name = town.chance.choice(["example.com", "example.org"])
    op = town.chance.choice(["POST", "PATCH", "DELETE"])
    if op == "POST":
        return await town.call(0, op, "realm/domains", domain=name, allow_subdomains=town.chance.random() < 0.5)
    return await town.call(0, op, f"realm/domains/{name}", allow_subdomains=town.chance.random() < 0.5)


async def change_role(town: Town, _who: int) -> Any:
    target = town.chance.choice(town.people[1:]).user_id
    return await town.call(0, "PATCH", f"users/{target}", role=town.chance.choice([200, 300, 400, 600]))


async def turn_off(town: Town, _who: int) -> Any:
    return await town.call(0, "DELETE", f"users/{town.chance.choice(town.people[2:]).user_id}")


async def turn_on(town: Town, _who: int) -> Any:
    target = town.chance.choice([*(person.user_id for person in town.people[2:]), *town.bots])
    return await town.call(town.chance.choice([0, 1]), "POST", f"users/{target}/reactivate")


async def arrive(town: Town, _who: int) -> Any:
    email, password = f"new{next(town.numbers)}@example.com", "seven copper kettles sing"
    return await town.call(0, "POST", "users", email=email, password=password, full_name="Somebody new")


async def make_bot(town: Town, who: int) -> Any:
    number = next(town.numbers)
    kind: Json = town.chance.choice([{"bot_type": 1}, {"bot_type": 3, "payload_url": '"https://example.com/"'}])
    body = await town.call(who, "POST", "bots", full_name=f"Bot {number}", short_name=f"bot{number}", **kind)
    town.bots += [body["user_id"]] if "user_id" in body else []
    return body


async def change_bot(town: Town, who: int) -> Any:
    if not town.bots:
        return "no bot yet"
    wish: Json = town.chance.choice([
        {"full_name": f"Bot named {next(town.numbers)}"},
        {"bot_owner_id": town.somebody()},
        {"service_payload_url": f'"https://example.com/{next(town.numbers)}"'},
        {"role": town.chance.choice([300, 400, 600])},
    ])  # fmt: skip
    who = town.chance.choice([who, 0])
    return await town.call(who, "PATCH", f"bots/{town.chance.choice(town.bots)}", **wish)


async def drop_bot(town: Town, who: int) -> Any:
    return await town.call(who, "DELETE", f"bots/{town.chance.choice(town.bots)}") if town.bots else "no bot yet"


async def make_field(town: Town, _who: int) -> Any:
    name = f"Field {next(town.numbers)}"
    body = await town.call(1, "POST", "realm/profile_fields", field_type=town.chance.choice([1, 2, 5]), name=name)
    town.fields += [body["id"]] if "id" in body else []
    return body


async def change_field(town: Town, _who: int) -> Any:
    if not town.fields:
        return "no field yet"
    field = town.chance.choice(town.fields)
    if town.chance.random() < 0.3:
        return await town.call(0, "DELETE", f"realm/profile_fields/{field}")
    return await town.call(0, "PATCH", f"realm/profile_fields/{field}", hint=f"Hint {next(town.numbers)}")


async def say(town: Town, who: int) -> Any:
    if not town.fields:
        return "no field yet"
    field = town.chance.choice(town.fields)
    if town.chance.random() < 0.3:
        return await town.call(who, "DELETE", "users/me/profile_data", data=[field])
    said = [{"id": field, "value": f"https://example.com/{next(town.numbers)}"}]
    if town.chance.random() < 0.3:
        return await town.call(0, "PATCH", f"users/{town.somebody()}", profile_data=said)
    return await town.call(who, "PATCH", "users/me/profile_data", data=said)


async def mute(town: Town, who: int) -> Any:
    return await town.call(who, town.chance.choice(["POST", "DELETE"]), f"users/me/muted_users/{town.somebody()}")


async def watch(town: Town, who: int) -> Any:
    words = town.chance.sample(["tea", "coffee", "milk"], 2)
    return await town.call(who, town.chance.choice(["POST", "DELETE"]), "users/me/alert_words", alert_words=words)


async def meet(town: Town, _who: int) -> Any:
    change = town.chance.choice([subscribe, unsubscribe])
    people = [person.user_id for person in town.chance.sample(town.people, 2)]
    async with town.database.transaction() as tx:
        return await change(tx, town.realm_id, [town.chance.choice(town.channels)], people)


async def whisper(town: Town, who: int) -> Any:
    return await town.call(who, "POST", "messages", type="direct", to=[town.somebody()], content="Hello")


_ACTS: list[Act] = [
    rename, rename_oneself, hide, travel, choose, decide_defaults, decide, limit, add_domain, change_role, turn_off,
    turn_on, turn_on, arrive, make_bot, make_bot, change_bot, change_bot, drop_bot, make_field, change_field, say, say,
    mute, watch, meet, meet, meet, whisper,
]  # fmt: skip


async def play(seed: int, http: httpx.AsyncClient, urls: list[str], database: Database) -> int:
    town = Town(seed, http, urls, database)
    try:
        await town.make()
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for who in range(len(town.people)):
                group.create_task(town.run(who))
        async with asyncio.timeout(60):
            await town.check()
    except BaseException as problem:
        problem.add_note("\n".join([f"seed {seed}, what happened:", *town.story]))
        raise
    return len(town.story)


@pytest.fixture
def urls(server: Server, folder: Path) -> Iterator[list[str]]:
    with second_web(server, folder) as other:
        yield [server.url, other.url]


@pytest.mark.timeout(300)
def test_state_and_events_of_people_add_up_whatever_happens_at_the_same_time(server: Server, urls: list[str]) -> None:
    async def run() -> None:
        async with (
            await Database.connect(server.postgres_url, shards=4, size=4) as database,
            httpx.AsyncClient(timeout=30, trust_env=False) as http,
        ):
            start = random.randrange(10**9)
            for seed in range(start, start + HISTORIES):
                await play(seed, http, urls, database)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
