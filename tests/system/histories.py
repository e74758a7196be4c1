"""Random histories of a small realm: what its people do, all at once, and what each of their clients is told.

A history is one program per person. The programs run at the same time, against any number of web processes; each
registration makes a client (model_client.py) that is polled until the end, through whichever process comes to hand.
At the end a marker message tells every client that it has heard everything; then
- what each client holds must be what a fresh registration says;
- each client must have heard exactly the messages that were its own after its registration;
- the fresh queues must hold nothing but what comes after them.
Nothing sleeps: replies and the marker say when something has happened.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx
import msgspec

from tertulia.channels.actions import create_channel, subscribe, unsubscribe
from tertulia.channels.statements import lock_conversations
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Transaction
from tertulia.realms.actions import create_realm
from tertulia.users.actions import create_api_key, create_user
from tests.system import channel_acts
from tests.system.channel_acts import Adjust, Alter, Archive, Bring, ChannelAct, Fold, Remove
from tests.system.model_client import Json, Mismatch, ModelState

_names = (f"h{os.getpid()}x{number}" for number in itertools.count(1))


@dataclass(frozen=True)
class Register:
    """`process` chooses among the web processes, here and below."""

    process: int
    all_public: bool = False
    empty_topic: bool = True
    archived: bool = False

    @property
    def knows(self) -> tuple[bool, bool]:
        """The capabilities: of the empty topic and inherited settings; and of archived channels, which needs the first."""
        return self.empty_topic, self.empty_topic and self.archived


@dataclass(frozen=True)
class Say:
    channel: int
    topic: str
    read: bool | None
    process: int


@dataclass(frozen=True)
class Whisper:
    to: frozenset[int]
    read: bool | None
    process: int


@dataclass(frozen=True)
class Mark:
    """Mark messages read or unread, counted from the newest that anybody sent."""

    read: bool
    messages: frozenset[int]
    process: int


@dataclass(frozen=True)
class Star:
    """Put a star or another flag on messages, or take it off, counted as in Mark."""

    flag: str
    adds: bool
    messages: frozenset[int]
    process: int


@dataclass(frozen=True)
class ReadAll:
    """Mark everything read, or a channel, or a topic of it."""

    channel: int | None
    topic: str | None
    process: int


@dataclass(frozen=True)
class Edit:
    """Change the text of a message, counted as in Mark."""

    message: int
    process: int


@dataclass(frozen=True)
class Move:
    """Move a message, or those after it, or all of its topic."""

    message: int
    topic: str | None
    channel: int | None
    mode: str
    process: int


@dataclass(frozen=True)
class Erase:
    message: int
    process: int


@dataclass(frozen=True)
class Decide:
    """Mute, unmute or follow a topic, or forget it."""

    channel: int
    topic: str
    policy: int
    process: int


@dataclass(frozen=True)
class Join:
    channels: frozenset[int]
    process: int


@dataclass(frozen=True)
class Leave:
    channels: frozenset[int]
    process: int


@dataclass(frozen=True)
class Found:
    """Make a channel of one's own."""

    private: bool
    process: int


@dataclass(frozen=True)
class Poll:
    """`client` chooses among the person's own; `lose`: the reply is lost, and asked for again elsewhere."""

    client: int
    process: int
    lose: bool = False


@dataclass(frozen=True)
class Hold:
    """A long poll that waits beside whatever the person does next."""

    client: int
    process: int


@dataclass(frozen=True)
class Invite:
    """Subscribe several people at once, from the command line, as it were."""

    people: frozenset[int]
    channels: frozenset[int]


@dataclass(frozen=True)
class Expel:
    people: frozenset[int]
    channels: frozenset[int]


@dataclass(frozen=True)
class Arrive:
    """Somebody new joins the organization."""


@dataclass(frozen=True)
class Gather:
    """Make a user group."""

    people: frozenset[int]
    process: int


@dataclass(frozen=True)
class Regroup:
    """Some come into a group, some go; `ends`: it is deactivated instead."""

    group: int
    come: frozenset[int]
    go: frozenset[int]
    ends: bool
    process: int


@dataclass(frozen=True)
class Rename:
    """The owner gives somebody another name."""

    person: int
    process: int


Act = (
    Gather
    | Regroup
    | Rename
    | Register
    | Say
    | Whisper
    | Mark
    | Star
    | ReadAll
    | Edit
    | Move
    | Erase
    | Decide
    | Join
    | Leave
    | Found
    | Poll
    | Hold
    | Invite
    | Expel
    | Arrive
    | ChannelAct
)


class History(NamedTuple):
    """One program per person; the last person is a guest."""

    programs: tuple[tuple[Act, ...], ...]


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
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                for number, program in enumerate(history.programs):
                    group.create_task(realm.run(number, program))
            async with asyncio.timeout(60):
                await realm.check()
        except BaseException as problem:
            problem.add_note("\n".join(["what happened:", *realm.story, *realm.told]))
            raise
        finally:
            for client in realm.clients:
                if client.holding is not None:
                    client.holding.cancel()
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

    async def run(self, number: int, program: Sequence[Act]) -> None:
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
                return await self.send(person, act, {"type": "direct", "to": _json(self.ids(act.to))})
            case Mark() | Star() | ReadAll() | Decide():
                return await self.change_own(person, act)
            case Edit() | Move() | Erase():
                return await self.change_message(person, act)
            case Join() | Leave():
                return await self.change_subscriptions(person, act)
            case Found():
                name = f"n{number}-{next(self.founded)}"
                wanted = {"name": name, "subscribers": _json([person.user_id])}
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
        data["client_capabilities"] = _json(knows | {"archived_channels": act.archived and act.empty_topic})
        asked = time.monotonic()
        body = await self.call(person, act.process, "POST", "register", data)
        now = time.monotonic()
        last = body["last_event_id"]
        self.clients.append(
            Client(
                person,
                act,
                body["queue_id"],
                asked,
                now,
                ModelState(body),
                last,
            )
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
            self.sent.append(Sent(body["id"], asked, time.monotonic()))
        return str(body)

    async def change_own(self, person: Person, act: Mark | Star | ReadAll | Decide) -> str:
        match act:
            case Mark():
                return await self.mark(person, act)
            case Star():
                ids, op = self._newest(act.messages), "add" if act.adds else "remove"
                data = {"messages": _json(ids), "op": op, "flag": act.flag}
                return str(await self.call(person, act.process, "POST", "messages/flags", data))
            case ReadAll():
                return await self.read_all(person, act)
            case Decide():
                return await self.decide(person, act)

    async def mark(self, person: Person, act: Mark) -> str:
        data = {"messages": _json(self._newest(act.messages)), "op": "add" if act.read else "remove", "flag": "read"}
        body = await self.call(person, act.process, "POST", "messages/flags", data)
        return str(body.get("messages", body))

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
        data = {"subscriptions": _json(wanted)}
        method = "POST" if joining else "DELETE"
        return str(await self.call(person, act.process, method, "users/me/subscriptions", data))

    async def change_groups(self, person: Person, act: Gather | Regroup) -> str:
        if isinstance(act, Gather):
            data = {"name": f"group {next(self.founded)}", "description": "", "members": _json(self.ids(act.people))}
            body = await self.call(person, act.process, "POST", "user_groups/create", data)
            self._groups += [body["group_id"]] if "group_id" in body else []
            return str(body)
        if not self._groups:
            return "no group yet"
        group = self._groups[act.group % len(self._groups)]
        if act.ends:
            return str(await self.call(person, act.process, "POST", f"user_groups/{group}/deactivate", {}))
        data = {"add": _json(self.ids(act.come)), "delete": _json(self.ids(act.go - act.come))}
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

    # The end

    async def check(self) -> None:
        """Everything has been done: is everybody told?"""
        marker = await self._mark_end()
        await asyncio.gather(*(self._hear(client, marker, turn) for turn, client in enumerate(self.clients)))
        fresh = []
        for number, person in enumerate(self.people):
            for knows in ((False, False), (True, False), (True, True)):
                await self.register(person, Register(number, False, *knows))
                fresh.append(self.clients.pop())
        likes = {(client.person.user_id, client.choice.knows): client.state for client in fresh}
        for number, client in enumerate(self.clients):
            problems = client.state.differences(likes[client.person.user_id, client.choice.knows])
            if problems:
                raise Mismatch("\n".join([f"client {number}, then a fresh registration:", *problems]))
        await self._check_messages(marker)
        self._check_same_events()
        after = await self._mark_end()
        for client in fresh:
            await self._hear(client, after, client.person.user_id)
            if client.heard != {after} or len(client.events) != 1:
                raise Mismatch(f"only message {after} came after the registration, but: {client.events}")

    async def _mark_end(self) -> int:
        """A message to all, which comes after everything else."""
        everybody = [person.user_id for person in self.people]
        data = {"type": "direct", "to": _json(everybody), "content": "the end"}
        body = await self.call(self.people[0], 0, "POST", "messages", data)
        number: int = body["id"]
        self.sent.append(Sent(number, time.monotonic(), time.monotonic()))
        return number

    async def _hear(self, client: Client, marker: int, turn: int) -> None:
        if client.holding is not None:
            await client.holding
        while marker not in client.heard:
            turn += 1
            await self.poll(client, turn, block=True)

    async def _check_messages(self, marker: int) -> None:
        """Each client heard exactly what was its own: all that was sent after its registration, none from before."""
        async with self.world.database.reader() as reader:
            rows = await reader.fetch(
                """
                select message.id, array_agg(read_state.user_id) as user_ids,
                       coalesce(not channel.invite_only, false) as is_public, channel.id as channel_id,
                       sender.system_bot is not null as is_notice, bool_or(arrived) as arrived
                from message join account as sender on sender.id = message.sender_id
                left join channel on channel.id = message.conversation_id
                left join read_state on read_state.conversation_id = message.conversation_id and seq <@ history
                where message.realm_id = $1 group by message.id, channel.id, sender.id
                """,
                self.id,
            )
        said = {row["id"] for row in rows if not row["is_notice"]}
        if said != {sent.id for sent in self.sent} - self.erased or len(self.sent) - len(self.erased) != len(said):
            raise Mismatch(f"replies: {self.sent}; stored: {rows}")
        # Of messages that moved to another channel or are gone, the database cannot tell any more whose they were at first.
        changed = self.erased | {row["id"] for row in rows if row["arrived"]}
        owners = {row["id"]: set(row["user_ids"]) for row in rows}
        # Whether a channel was public when somebody spoke is known of those that always were what they are. Of the others
        # the clients themselves know: they do not take messages of private channels (model_client.py).
        public = {row["id"] for row in rows if row["is_public"] and row["channel_id"] not in self.opened_or_closed}
        unsure = {row["id"] for row in rows if row["channel_id"] in self.opened_or_closed}
        for number, client in enumerate(self.clients):
            own = {message for message, users in owners.items() if client.person.user_id in users}
            may = set(own)
            if client.choice.all_public and client.person is not self.people[-1]:
                own |= public
                may |= public | unsure
            before = {sent.id for sent in self.sent if sent.answered < client.asked}
            later = {sent.id for sent in self.sent if sent.asked > client.answered}
            heard, own, may = client.heard - changed, own - changed, may - changed
            for what, wrong in (
                ("heard what was not theirs", heard - may),
                ("heard what their state held", heard & before),
                ("did not hear", (own & later) - heard),
            ):
                if wrong:
                    raise Mismatch(f"client {number} {what}: {sorted(wrong)}; the end was {marker}")

    def _check_same_events(self) -> None:
        """Clients of one person with the same choices are told the same, from where each began."""
        seen: dict[tuple[int, bool, bool, bool], dict[int, Json]] = {}
        for client in self.clients:
            key = (client.person.user_id, client.choice.all_public, *client.choice.knows)
            known = seen.setdefault(key, {})
            for number, event in client.events.items():
                if known.setdefault(number, event) != event:
                    raise Mismatch(f"event {number} was {known[number]} and {event}")


async def _in_use(tx: Transaction, channel_ids: list[int]) -> list[int]:
    """Those of the channels that are not archived, nor will be before the commit."""
    await lock_conversations(tx, channel_ids)
    rows = await tx.fetch("select id from channel where id = any($1) and not is_archived order by id", channel_ids)
    return [row["id"] for row in rows]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


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
