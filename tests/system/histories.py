"""Random histories of a small realm: what its people do, all at once, and what each of their clients is told.

A history is one program per person. The programs run at the same time, against any number of web processes; each
registration makes a client (model_client.py) that is polled until the end, through whichever process comes to hand.
At the end everybody must have been told everything (history_end.py). Nothing sleeps: replies say when something has
happened.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from tertulia.conversations.channels.actions import create_channel, subscribe, unsubscribe
from tertulia.conversations.channels.statements import lock_conversations
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Transaction
from tertulia.organization.realms.actions import create_realm
from tertulia.people.users.actions import create_api_key, create_user
from tests.system import channel_acts, history_end
from tests.system.acts import (
    Act,
    Arrive,
    Decide,
    Edit,
    Erase,
    Expel,
    Found,
    Gather,
    History,
    Hold,
    Invite,
    Join,
    Leave,
    Mark,
    Move,
    Poll,
    ReadAll,
    Register,
    Regroup,
    Rename,
    Say,
    Star,
    Whisper,
)
from tests.system.channel_acts import Adjust, Alter, Archive, Bring, Fold, Remove, encode
from tests.system.model_client import Json, Mismatch, ModelState

_names = (f"h{os.getpid()}x{number}" for number in itertools.count(1))


class Person(NamedTuple):
    user_id: int
    auth: httpx.BasicAuth


@dataclass
class Sent:
    """A message whose reply came, and when it was asked for and answered."""

    id: int
    asked: float
    answered: float


@dataclass
class Client:
    """One registration of one person."""

    person: Person
    choice: Register
    queue_id: str
    asked: float
    answered: float
    state: ModelState
    last: int
    events: dict[int, Json] = field(default_factory=dict)
    holding: "asyncio.Task[None] | None" = None

    def take(self, events: list[Json]) -> None:
        for event in events:
            if event["id"] <= self.last and event["type"] != "heartbeat":
                raise Mismatch(f"event {event['id']} after {self.last}: repeated or out of order")
            self.last = max(self.last, event["id"])
            if event["type"] != "heartbeat":
                self.events[event["id"]] = event
                self.state.apply(event)

    @property
    def heard(self) -> set[int]:
        return {event["message"]["id"] for event in self.events.values() if event["type"] == "message"}


class World:
    """The server under test: its database, and the addresses of its web processes."""

    def __init__(self, database: Database, http: httpx.AsyncClient, urls: Sequence[str]) -> None:
        self.database = database
        self.http = http
        self.urls = urls
        self.counts = {"histories": 0, "acts": 0, "registrations": 0, "events": 0, "messages": 0, "refused": 0}

    async def play(self, history: History) -> None:
        """Run a history and check everything about it."""
        realm = await Realm.make(self, len(history.programs))
        try:
            await realm.live(history)
            async with asyncio.timeout(60):
                await history_end.check(realm)
        except BaseException as problem:
            problem.add_note("\n".join(["what happened:", *realm.story, *realm.told]))
            raise
        finally:
            realm.let_go()
        self.counts["histories"] += 1
        self.counts["acts"] += sum(map(len, history.programs))
        self.counts["registrations"] += len(realm.clients)
        self.counts["events"] += sum(len(client.events) for client in realm.clients)
        self.counts["messages"] += len(realm.sent)


class Realm:
    """One history under way."""

    def __init__(self, world: World, id: int, subdomain: str, people: list[Person], channels: dict[str, int]) -> None:
        self.world = world
        self.id = id
        self.subdomain = subdomain
        self.people = people
        self.channels = channels
        self.called = {name: name for name in channels}
        """The names of channels as they are now."""
        self.groups: dict[str, int] = {}
        self.folders: list[int] = []
        self.opened_or_closed: set[int] = set()
        """Channels whose privacy somebody tried to change."""
        self.sent: list[Sent] = []
        self.clients: list[Client] = []
        self.story: list[str] = []
        self._began = time.monotonic()
        self.founded = itertools.count(1)
        self._groups: list[int] = []
        self.erased: set[int] = set()

    @classmethod
    async def make(cls, world: World, size: int) -> "Realm":
        subdomain = next(_names)
        async with world.database.transaction() as tx:
            realm_id = await create_realm(tx, subdomain, subdomain)
            people = []
            for number in range(size):
                role = Role.OWNER if number == 0 else Role.GUEST if number == size - 1 else Role.MEMBER
                email = f"p{number}@example.com"
                user_id = await create_user(tx, realm_id, email, f"Person {number}", role)
                people.append(Person(user_id, httpx.BasicAuth(email, await create_api_key(tx, user_id))))
            ids = [person.user_id for person in people]
            members = {"all": ids, "some": ids[:2], "empty": [], "secret": [ids[0], ids[-1]]}
            channels = {}
            for name, inside in members.items():
                channels[name] = await create_channel(tx, realm_id, name, invite_only=name == "secret")
                await subscribe(tx, realm_id, [channels[name]], inside)
            rows = await tx.fetch("select name, id from user_group where realm_id = $1 and is_system", realm_id)
        realm = cls(world, realm_id, subdomain, people, channels)
        realm.groups = {row["name"]: row["id"] for row in rows}
        return realm

    @property
    def told(self) -> list[str]:
        """What each client heard, in short."""
        return [
            f"client {number} of {client.person.user_id} heard: " + "; ".join(map(_brief, client.events.values()))
            for number, client in enumerate(self.clients)
        ]

    async def live(self, history: History) -> None:
        """Everybody does what they are to do, at the same time."""
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number, program in enumerate(history.programs):
                group.create_task(self._run(number, program))

    def let_go(self) -> None:
        """End the polls that still wait."""
        for client in self.clients:
            if client.holding is not None:
                client.holding.cancel()

    async def _run(self, number: int, program: Sequence[Act]) -> None:
        person = self.people[number]
        for act in program:
            said = await self._do(number, person, act)
            self.story.append(f"{time.monotonic() - self._began:7.3f} person {number}: {act} -> {said}")

    async def _do(self, number: int, person: Person, act: Act) -> str:  # noqa: C901 -- one line for each kind
        match act:
            case Register():
                return await self.register(person, act)
            case Say():
                to = self.channel_names([act.channel])[0]
                return await self.send(person, act, {"type": "channel", "to": to, "topic": act.topic})
            case Whisper():
                return await self.send(person, act, {"type": "direct", "to": encode(self.ids(act.to))})
            case Mark() | Star() | ReadAll() | Decide():
                return await self.change_own(person, act)
            case Edit() | Move() | Erase():
                return await self.change_message(person, act)
            case Join() | Leave():
                return await self.change_subscriptions(person, act)
            case Found():
                name = f"n{number}-{next(self.founded)}"
                wanted = {"name": name, "subscribers": encode([person.user_id])}
                wanted["invite_only"] = "true" if act.private else "false"
                body = await self.call(person, act.process, "POST", "channels/create", wanted)
                if "id" in body:
                    self.channels[name], self.called[name] = body["id"], name
                return str(body)
            case Gather() | Regroup():
                return await self.change_groups(person, act)
            case Rename():
                path = f"users/{self.ids([act.person])[0]}"
                changed = {"full_name": f"Name {next(self.founded)}"}
                return str(await self.call(self.people[0], act.process, "PATCH", path, changed))
            case Poll() | Hold():
                return await self.poll_by_choice(person, act)
            case Invite() | Expel() | Arrive():
                return await self.administer(act)
            case Alter() | Archive() | Adjust() | Fold() | Bring() | Remove():
                return await channel_acts.do(self, person, act)

    async def call(self, person: Person, process: int, method: str, path: str, data: Json) -> Json:
        """One request; whatever is neither a success nor a refusal is an error."""
        url = f"{self.world.urls[process % len(self.world.urls)]}/api/v1/{path}"
        headers = {"Host": f"{self.subdomain}.localhost"}
        given: Any = {"params": data} if method == "GET" else {"data": data}
        reply = await self.world.http.request(method, url, auth=person.auth, headers=headers, **given)
        body: Json = reply.json()
        if reply.status_code == 200:
            return body
        if reply.status_code != 400 or body["code"] == "BAD_EVENT_QUEUE_ID" or path in ("register", "events"):
            raise Mismatch(f"{method} {path} {data} on process {process}: {reply.status_code} {body}")
        self.world.counts["refused"] += 1
        return {"refused": body["msg"]}

    # What people do

    async def register(self, person: Person, act: Register) -> str:
        all_public = act.all_public and person is not self.people[-1]
        data = {"all_public_streams": "true" if all_public else "false"}
        knows = {"notification_settings_null": True, "empty_topic_name": act.empty_topic}
        data["client_capabilities"] = encode(knows | {"archived_channels": act.archived and act.empty_topic})
        asked = time.monotonic()
        body = await self.call(person, act.process, "POST", "register", data)
        last = body["last_event_id"]
        self.clients.append(
            Client(person, act, body["queue_id"], asked, time.monotonic(), ModelState(body), last),
        )
        return f"client {len(self.clients) - 1}, queue {body['queue_id']} from {last}"

    async def send(self, person: Person, act: Say | Whisper, data: Json) -> str:
        asked = time.monotonic()
        # Mentions change who follows a topic.
        concerned = self.people[len(self.sent) % len(self.people)].user_id
        said = ("", f" @**|{concerned}**", " @**all** @**topic**")[len(self.sent) % 3]
        data["content"] = f"message {len(self.sent)}{said}"
        if act.read is not None:
            data["read_by_sender"] = "true" if act.read else "false"
        body = await self.call(person, act.process, "POST", "messages", data)
        if "id" in body:
            self.note_sent(body["id"], asked=asked)
        return str(body)

    def note_sent(self, message_id: int, *, asked: float) -> None:
        self.sent.append(Sent(message_id, asked, time.monotonic()))

    async def change_own(self, person: Person, act: Mark | Star | ReadAll | Decide) -> str:
        match act:
            case Mark():
                return await self.flag(person, act, "read", adds=act.read)
            case Star():
                return await self.flag(person, act, act.flag, adds=act.adds)
            case ReadAll():
                return await self.read_all(person, act)
            case Decide():
                return await self.decide(person, act)

    async def flag(self, person: Person, act: Mark | Star, flag: str, *, adds: bool) -> str:
        data = {"messages": encode(self._newest(act.messages)), "op": "add" if adds else "remove", "flag": flag}
        return str(await self.call(person, act.process, "POST", "messages/flags", data))

    async def change_message(self, person: Person, act: Edit | Move | Erase) -> str:
        for number in self._newest([act.message]):
            path = f"messages/{number}"
            if isinstance(act, Erase):
                body = await self.call(person, act.process, "DELETE", path, {})
                self.erased |= set() if "refused" in body else {number}
            else:
                body = await self.call(person, act.process, "PATCH", path, self._changed(act))
            return f"{number}: {body}"
        return "no message yet"

    def _changed(self, act: Edit | Move) -> Json:
        if isinstance(act, Edit):
            return {"content": f"text {next(self.founded)}"}
        data: Json = {"propagate_mode": act.mode, "send_notification_to_new_thread": "false"}
        if act.topic is not None:
            data["topic"] = act.topic
        if act.channel is not None:
            data["stream_id"] = self.channels[self.channel_names([act.channel])[0]]
        return data

    def _newest(self, numbers: Iterable[int]) -> list[int]:
        newest = [sent.id for sent in self.sent][::-1]
        return [newest[number] for number in numbers if number < len(newest)]

    async def read_all(self, person: Person, act: ReadAll) -> str:
        if act.channel is None:
            return str(await self.call(person, act.process, "POST", "mark_all_as_read", {}))
        data: Json = {"stream_id": self.channel_id(act.channel)}
        if act.topic is None:
            return str(await self.call(person, act.process, "POST", "mark_stream_as_read", data))
        data["topic_name"] = act.topic
        return str(await self.call(person, act.process, "POST", "mark_topic_as_read", data))

    async def decide(self, person: Person, act: Decide) -> str:
        channel = self.channel_id(act.channel)
        data = {"stream_id": channel, "topic": act.topic, "visibility_policy": act.policy}
        return str(await self.call(person, act.process, "POST", "user_topics", data))

    async def change_subscriptions(self, person: Person, act: Join | Leave) -> str:
        names = self.channel_names(sorted(act.channels))
        joining = isinstance(act, Join)
        wanted = [{"name": name} for name in names] if joining else names
        data = {"subscriptions": encode(wanted)}
        method = "POST" if joining else "DELETE"
        return str(await self.call(person, act.process, method, "users/me/subscriptions", data))

    async def change_groups(self, person: Person, act: Gather | Regroup) -> str:
        if isinstance(act, Gather):
            data = {"name": f"group {next(self.founded)}", "description": "", "members": encode(self.ids(act.people))}
            body = await self.call(person, act.process, "POST", "user_groups/create", data)
            self._groups += [body["group_id"]] if "group_id" in body else []
            return str(body)
        if not self._groups:
            return "no group yet"
        group = self._groups[act.group % len(self._groups)]
        if act.ends:
            return str(await self.call(person, act.process, "POST", f"user_groups/{group}/deactivate", {}))
        data = {"add": encode(self.ids(act.come)), "delete": encode(self.ids(act.go - act.come))}
        return str(await self.call(self.people[0], act.process, "POST", f"user_groups/{group}/members", data))

    async def administer(self, act: Invite | Expel | Arrive) -> str:
        async with self.world.database.transaction() as tx:
            if isinstance(act, Arrive):
                email = f"new{next(self.founded)}@example.com"
                channels = await _in_use(tx, [self.channels["all"]])  # held first: the new account holds the realm
                user_id = await create_user(tx, self.id, email, "Somebody new")
                await subscribe(tx, self.id, channels, [user_id])
                return f"user {user_id}"
            channels = await _in_use(tx, [self.channel_id(number) for number in act.channels])
            people = self.ids(act.people)
            change = subscribe if isinstance(act, Invite) else unsubscribe
            return str(await change(tx, self.id, channels, people))

    async def poll_by_choice(self, person: Person, act: Poll | Hold) -> str:
        own = [client for client in self.clients if client.person is person]
        if not own:
            return "no client yet"
        client = own[act.client % len(own)]
        if client.holding is not None:
            return "held already"
        if isinstance(act, Hold):
            client.holding = asyncio.create_task(self.poll(client, act.process, block=True))
            return "held"
        before = len(client.events)
        if act.lose:
            lost = await self._events(client, act.process + 1, block=False)
            again = await self._events(client, act.process, block=False)
            if _certain(again)[: len(_certain(lost))] != _certain(lost):
                raise Mismatch(f"{lost} were lost, and this came instead: {again}")
            client.take(again)
        else:
            await self.poll(client, act.process, block=False)
        return f"{len(client.events) - before} events"

    async def poll(self, client: Client, process: int, *, block: bool) -> None:
        client.take(await self._events(client, process, block=block))

    async def _events(self, client: Client, process: int, *, block: bool) -> list[Json]:
        data = {"queue_id": client.queue_id, "last_event_id": client.last}
        data["dont_block"] = "false" if block else "true"
        body = await self.call(client.person, process, "GET", "events", data)
        if block and not body["events"]:
            raise Mismatch("a poll that waited was answered with nothing")
        events: list[Json] = body["events"]
        return events

    def ids(self, numbers: Iterable[int]) -> list[int]:
        return [self.people[number % len(self.people)].user_id for number in sorted(numbers)]

    def channel_key(self, number: int) -> str:
        return list(self.channels)[number % len(self.channels)]

    def channel_id(self, number: int) -> int:
        return self.channels[self.channel_key(number)]

    def channel_names(self, numbers: Sequence[int]) -> list[str]:
        return [self.called[self.channel_key(number)] for number in numbers]


async def _in_use(tx: Transaction, channel_ids: list[int]) -> list[int]:
    """Those of the channels that are not archived, nor will be before the commit."""
    await lock_conversations(tx, channel_ids)
    rows = await tx.fetch("select id from channel where id = any($1) and not is_archived order by id", channel_ids)
    return [row["id"] for row in rows]


def _brief(event: Json) -> str:
    shown = {key: value for key, value in event.items() if key not in ("type", "id", "message")}
    if "message" in event:
        shown["message"] = event["message"]["id"]
    for key in ("subscriptions", "streams"):
        if key in event:
            shown[key] = [(one["stream_id"], one.get("subscriber_count")) for one in event[key]]
    return f"{event['id']} {event['type']} {shown}"


def _certain(events: list[Json]) -> list[Json]:
    """Without news of other subscribers: a process that takes a queue over knows only the channels of now."""
    return [event for event in events if event.get("op") not in ("peer_add", "peer_remove")]
