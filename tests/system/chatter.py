"""People who talk and listen without a pause, whatever happens to the server, and the proof that nothing was lost.

Senders: some never repeat a message whose reply did not come, the others repeat it with the same Idempotency-Key until
it does. Listeners: each keeps the state of its registration current by events (model_client.py) and asks again after
any failure, with the last event it has; only BAD_EVENT_QUEUE_ID makes it register again.

The checker, at the end:
- a message whose reply came is stored once, under that id and with that content; no message is stored twice; one that
  was repeated until the reply came is stored once;
- every listener holds what a fresh registration says. Nobody reads anything, so the unread messages of the state are all
  messages ever: an event that was missed, doubled or out of order shows.
"""

import asyncio
import itertools
import random
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg
import httpx
import msgspec

from tertulia.conversations.channels.actions import create_channel, subscribe
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Transaction
from tertulia.organization.realms.actions import create_realm
from tertulia.people.users.actions import create_api_key, create_user
from tests.harness.schemas import acheck_reply
from tests.harness.server import PLAIN_HTTP, Addresses
from tests.system.model_client import Json, Mismatch, ModelState

PEOPLE = 6
SENDERS = 4
PAUSE = 0.02
AFTER_FAILURE = 0.05
_names = itertools.count(1)


@dataclass
class Words:
    """What one sender wanted to say, and the id it was told; 0: the reply never came."""

    content: str
    id: int = 0
    sender: int = 0
    answered: float = 0.0
    """When the reply came."""


@dataclass
class Listener:
    """One person's client."""

    auth: httpx.BasicAuth
    urls: Sequence[str]
    queue_id: str = ""
    last: int = -1
    state: ModelState | None = None
    registrations: int = 0
    events: int = 0
    failures: int = 0
    newest: dict[int, int] = field(default_factory=dict)
    """The last message heard of each conversation."""
    forget: bool = False
    """Whether to give its queue up and register anew."""
    died: int = 0
    """How many the server ended."""
    asleep_until: float = 0.0
    """It asks for nothing until then, so that its queue falls behind."""
    told: deque[str] = field(default_factory=lambda: deque(maxlen=12))
    """The last answers in short, for whoever has to understand a failure."""
    times: list[float] = field(default_factory=list)
    """When something new was heard."""


class Chatter:
    """A realm in which people talk. `urls`: of the web processes; every listener keeps to a few of them. `pause`: about how
    long each sender waits after a reply, in seconds; `each`: how many clients everybody listens with."""

    def __init__(
        self, server: Addresses, urls: Sequence[str], randomness: random.Random, *, pause: float = PAUSE, each: int = 1
    ) -> None:
        self.urls = urls
        self._pause = pause
        self._each = each
        self.words: list[Words] = []
        self.repeated: set[str] = set()
        self.failed_sends = 0
        self.listeners: list[Listener] = []
        self._server = server
        self._random = randomness
        self._subdomain = f"chatter{int(time.time() * 1000)}x{next(_names)}"
        self.realm_id = 0
        self._channels: list[int] = []
        self.stuck_channel = 0
        """Where nobody can write for a while: half of the senders talk elsewhere, so that it shows whether they can."""
        self._people: list[tuple[int, httpx.BasicAuth]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(30, connect=5),
            trust_env=False,
            verify=PLAIN_HTTP,
            event_hooks={"response": [acheck_reply]},
        )
        self._ending = asyncio.Event()

    @property
    def answered(self) -> int:
        return sum(1 for words in self.words if words.id)

    @property
    def heard(self) -> int:
        return sum(listener.events for listener in self.listeners)

    @property
    def registrations(self) -> int:
        return sum(listener.registrations for listener in self.listeners)

    @property
    def summary(self) -> str:
        return (
            f"{len(self.words)} messages, {self.answered} answered, {self.failed_sends} attempts failed; "
            f"{self.heard} events, {self.registrations} registrations of {len(self.listeners)} listeners, "
            f"{sum(one.failures for one in self.listeners)} polls failed"
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Talk meanwhile; check everything afterwards."""
        try:
            await self._make_realm()
            for number, (_, auth) in enumerate(self._people * self._each):
                self.listeners.append(Listener(auth, self._own_urls(number)))
            talking = [asyncio.create_task(talk) for talk in self._talks()]
            listening = [asyncio.create_task(self._listen(listener)) for listener in self.listeners]
            self._tasks = [*talking, *listening]
            yield
            self._ending.set()
            await self._finish(talking, 90)
            await self._check_stored()
            await self._check_listeners(listening)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._http.aclose()

    async def progress(self, sends: int, seconds: float = 60) -> None:
        """Until that many more messages were answered, and every listener has heard something new."""
        target = self.answered + sends
        heard = {id(listener): listener.events for listener in self.listeners}

        def is_reached() -> bool:
            return self.answered >= target and all(one.events > heard[id(one)] for one in self.listeners)

        await self._until(is_reached, seconds, lambda: self._standing(heard, target))

    def _standing(self, heard: dict[int, int], target: int) -> str:
        deaf = [number for number, one in enumerate(self.listeners) if one.events <= heard[id(one)]]
        return f"answered {self.answered} of {target}; these heard nothing new: {deaf}"

    async def _until(self, ask: Callable[[], bool], seconds: float, say: Callable[[], str]) -> None:
        deadline = time.monotonic() + seconds
        while not ask():
            for task in self._tasks:
                if task.done() and not self._ending.is_set():
                    await task
            assert time.monotonic() < deadline, say()
            await asyncio.sleep(0.02)

    # Talking

    def _talks(self) -> list[Coroutine[None, None, None]]:
        """What is done until the end, each at its own pace."""
        return [self._talk(number) for number in range(SENDERS)]

    async def _talk(self, number: int) -> None:
        user_id, auth = self._people[number]
        repeats = number % 2 == 1
        for count in itertools.count(1):
            if self._ending.is_set():
                return
            words = Words(f"words {count} of {user_id}", sender=number)
            self.words.append(words)
            if repeats:
                self.repeated.add(words.content)
            await self._say(auth, words, self._address(number), repeats=repeats)
            await asyncio.sleep(self._random.uniform(0, 2 * self._pause))

    async def _say(self, auth: httpx.BasicAuth, words: Words, address: Json, *, repeats: bool) -> None:
        data = {"content": words.content, **address}
        headers = {"Idempotency-Key": words.content} if repeats else {}
        while not words.id:
            url = self._random.choice(self.urls)
            reply = await self._try(auth, "POST", f"{url}/api/v1/messages", headers, data=data)
            if reply is not None and reply.status_code == 200:
                words.id, words.answered = reply.json()["id"], time.monotonic()
                return
            if reply is not None and reply.status_code < 500:
                raise Mismatch(f"{data}: {reply.status_code} {reply.text}")
            self.failed_sends += 1
            await asyncio.sleep(AFTER_FAILURE)
            if not repeats:
                return

    def _address(self, sender: int) -> Json:
        if self._random.random() < 0.2:
            people = [user_id for user_id, _ in self._random.sample(self._people, 2)]
            return {"type": "direct", "to": msgspec.json.encode(people).decode()}
        topic = self._random.choice(["tea", "cake"])
        channels = [one for one in self._channels if one != self.stuck_channel or sender < SENDERS // 2]
        return {"type": "channel", "to": self._random.choice(channels), "topic": topic}

    async def _try(
        self, auth: httpx.BasicAuth, method: str, url: str, headers: dict[str, str], **given: Json
    ) -> httpx.Response | None:
        """A reply, or None: nobody knows what became of the request."""
        own = {"Host": f"{self._subdomain}.localhost", **headers}
        try:
            return await self._http.request(method, url, auth=auth, headers=own, **given)  # type: ignore[arg-type]
        except httpx.TransportError:
            return None

    # Listening

    async def _listen(self, listener: Listener) -> None:
        turns = itertools.cycle(listener.urls)
        while True:
            url = next(turns)
            await asyncio.sleep(max(0.0, listener.asleep_until - time.monotonic()))
            if listener.forget:
                listener.state, listener.forget = None, False
            if listener.state is None:
                reply = await self._try(listener.auth, "POST", f"{url}/api/v1/register", {})
            else:
                asked = {"queue_id": listener.queue_id, "last_event_id": listener.last}
                reply = await self._try(listener.auth, "GET", f"{url}/api/v1/events", {}, params=asked)
            if reply is None or reply.status_code >= 500:
                listener.failures += 1
                await asyncio.sleep(AFTER_FAILURE)
            else:
                listener.told.append(_brief(listener, reply))
                try:
                    self._take(listener, reply.status_code, reply.json())
                except Mismatch as problem:
                    problem.add_note("\n".join(["its last answers:", *listener.told]))
                    raise

    def _take(self, listener: Listener, status: int, body: Json) -> None:
        if status == 200 and listener.state is None:
            listener.state = self._new_state(body)
            listener.times.append(time.monotonic())
            listener.queue_id, listener.last = body["queue_id"], body["last_event_id"]
            listener.registrations += 1
            listener.newest = {}
        elif status == 200:
            for event in body["events"]:
                self._apply(listener, event)
        elif body["code"] == "BAD_EVENT_QUEUE_ID":
            listener.state = None
            listener.died += 1
        else:
            raise Mismatch(f"a poll after {listener.last} was answered {status}: {body}")

    def _apply(self, listener: Listener, event: Json) -> None:
        assert listener.state is not None
        if event["type"] == "heartbeat":
            listener.last = max(listener.last, event["id"])
            return
        if event["id"] <= listener.last:
            raise Mismatch(f"event {event['id']} came after {listener.last}")
        listener.last = event["id"]
        listener.events += 1
        listener.times.append(time.monotonic())
        listener.state.apply(event)
        if event["type"] == "message":
            place, number = event["message"]["recipient_id"], event["message"]["id"]
            if number <= listener.newest.get(place, 0):
                raise Mismatch(f"message {number} came after {listener.newest[place]} in conversation {place}")
            listener.newest[place] = number

    # The realm and the end

    def _own_urls(self, number: int) -> Sequence[str]:
        """Some listeners keep to one process, others go round."""
        return self.urls if number % 3 == 2 else [self.urls[number % 3 % len(self.urls)]]

    def _new_state(self, body: Json) -> ModelState:
        return ModelState(body)

    async def _make_realm(self) -> None:
        connecting = Database.connect(self._server.postgres_url, shards=4, size=1)
        async with await connecting as database, database.transaction() as tx:
            realm_id = await create_realm(tx, self._subdomain, "People who talk")
            for number in range(PEOPLE):
                email = f"p{number}@example.com"
                role = Role.OWNER if number == 0 else Role.MEMBER
                user_id = await create_user(tx, realm_id, email, f"Person {number}", role)
                key = await create_api_key(tx, user_id)
                self._people.append((user_id, httpx.BasicAuth(email, key)))
            everybody = [user_id for user_id, _ in self._people]
            self._channels = [await create_channel(tx, realm_id, name) for name in ("one", "two")]
            await subscribe(tx, realm_id, self._channels, everybody)
            await self._furnish(tx, realm_id)
        self.realm_id = realm_id

    async def _furnish(self, tx: Transaction, realm_id: int) -> None:
        """Add to the new realm."""

    async def _finish(self, tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
        async with asyncio.timeout(seconds):
            await asyncio.gather(*tasks)

    async def _check_stored(self) -> None:
        connection = await asyncpg.connect(self._server.postgres_url)
        try:
            sql = """
            select message.id, content from message join realm on realm.id = realm_id where subdomain = $1
            """
            rows = {row["id"]: row["content"] for row in await connection.fetch(sql, self._subdomain)}
        finally:
            await connection.close()
        times = Counter(rows.values())
        for words in self.words:
            if words.id and rows.get(words.id) != words.content:
                raise Mismatch(f"{words} was answered; stored under this id: {rows.get(words.id)!r}")
            if times[words.content] > 1:
                raise Mismatch(f"{words} is stored {times[words.content]} times")
            if words.content in self.repeated and times[words.content] != 1:
                raise Mismatch(f"{words} was repeated until the reply came, and is stored {times[words.content]} times")
        if stray := {text for text in times if not self._is_of_others(text)} - {words.content for words in self.words}:
            raise Mismatch(f"nobody said {stray}")

    def _is_of_others(self, content: str) -> bool:
        """Whether somebody besides the senders may have said it."""
        return False

    async def _check_listeners(self, listening: Sequence[asyncio.Task[None]]) -> None:
        """What each holds, once it has heard the last message, is what a fresh registration says."""
        everybody = msgspec.json.encode([user_id for user_id, _ in self._people]).decode()
        last = Words("the end")
        self.words.append(last)
        headers = {"Idempotency-Key": last.content}
        while not last.id:
            data = {"type": "direct", "to": everybody, "content": last.content}
            reply = await self._try(self._people[0][1], "POST", f"{self.urls[0]}/api/v1/messages", headers, data=data)
            if reply is not None and reply.status_code == 200:
                last.id = reply.json()["id"]

        def has_heard(listener: Listener) -> bool:
            return listener.state is not None and last.id in listener.state.unread

        def say() -> str:
            deaf = [number for number, listener in enumerate(self.listeners) if not has_heard(listener)]
            return f"these listeners never heard the end: {deaf}"

        deadline = time.monotonic() + 30
        while not all(has_heard(listener) for listener in self.listeners):
            for task in listening:
                if task.done():
                    await task
            assert time.monotonic() < deadline, say()
            await asyncio.sleep(0.02)
        for number, listener in enumerate(self.listeners):
            reply = await self._register_anew(listener)
            assert reply.status_code == 200, reply.text
            assert listener.state is not None
            if problems := listener.state.differences(self._new_state(reply.json())):
                raise Mismatch("\n".join([f"listener {number}, then a fresh registration:", *problems[:20]]))

    async def _register_anew(self, listener: Listener, seconds: float = 30) -> httpx.Response:
        """As a client does: who is told to come again, because a fault is hardly over, does."""
        deadline = time.monotonic() + seconds
        while True:
            reply = await self._try(listener.auth, "POST", f"{self.urls[0]}/api/v1/register", {})
            if reply is not None and reply.status_code != 503:
                return reply
            assert time.monotonic() < deadline, "nobody answers" if reply is None else reply.text
            await asyncio.sleep(0.2)


def _brief(listener: Listener, reply: httpx.Response) -> str:
    body = reply.json()
    events = [f"{event['id']} {event['type']}" for event in body.get("events", ())]
    by = reply.headers.get("x-served-by", "")
    at = time.strftime("%H:%M:%S")
    return f"{at} {by} {listener.queue_id} after {listener.last}: {reply.status_code} {body.get('code', '')} {events}"
