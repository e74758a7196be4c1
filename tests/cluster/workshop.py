"""People who do more than talk while the cluster suffers: they edit, move, delete, react, mark, star, come and go, plan
messages for later, and register anew.

Each remembers what it was told. A reply is a promise; without one, both outcomes are right, and a request may even take effect
after a later one. In the end (`check`):
- a piece whose deletion was answered is gone; any other is there once, with the text of its last answered edit, unless an edit
  without an answer came in;
- reactions are as answered;
- what each listener holds of texts, places and reactions is what is stored;
- what was planned was said once, who was invited got a mail (invitations.py), and bots were called (hooks.py);
- nobody who was put out of the private channel heard what was said there afterwards.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import httpx
import msgspec

from tertulia.conversations.channels.actions import create_channel, subscribe
from tertulia.kernel.db import Transaction
from tests.cluster.hooks import ASKED, SAID, Hooks
from tests.cluster.invitations import Invitations
from tests.cluster.witness import Witness
from tests.system.chatter import AFTER_FAILURE, Chatter, Listener
from tests.system.model_client import Json, Mismatch, ModelState

if TYPE_CHECKING:
    from typing import Any

ANSWERS_SECONDS = 90.0
"""Until what a bot answered is said, also after a worker was cut off with it."""
MAKERS = (4, 5)
OUTCAST = 5
"""Who is put out of the private channel and let in again."""
EMOJI = ("tada", "heart")


@dataclass
class Piece:
    """A message that its maker works on."""

    id: int
    text: str
    unsure: set[str] = field(default_factory=set)
    """Texts of edits that were not answered."""
    is_gone: bool = False
    may_be_gone: bool = False
    reactions: set[str] = field(default_factory=set)
    unsure_reactions: set[str] = field(default_factory=set)


class Workshop(Chatter):
    """A realm where all this is done."""

    def __init__(self, *arguments: "Any", mails: Path, **named: "Any") -> None:
        super().__init__(*arguments, **named)
        self.invitations = Invitations(mails, self._subdomain)
        self.hooks = Hooks()
        self.pieces: list[Piece] = []
        self.planned: set[str] = set()
        self.unsure_plans: set[str] = set()
        self.forbidden: set[int] = set()
        self.done: Counter[str] = Counter()
        self.heard_by_outcast: set[int] = set()
        self._numbers = itertools.count(1)

    @property
    def dead_queues(self) -> int:
        return sum(listener.died for listener in self.listeners)

    @property
    def summary(self) -> str:
        again = self.hooks.called.total() - len(self.hooks.called)
        return f"{super().summary}; {len(self.hooks.called)} calls to a bot, {again} of them made again"

    @property
    def busiest_channel(self) -> int:
        return self._channels[0]

    def _talks(self) -> list[Coroutine[None, None, None]]:
        return [
            *super()._talks(),
            *(self._work(number) for number in MAKERS),
            self._guard(),
            self._plan(),
            self._invite(),
            self._call_bot(),
        ]

    async def _furnish(self, tx: Transaction, realm_id: int) -> None:
        everybody = [user_id for user_id, _ in self._people]
        self._bench = await create_channel(tx, realm_id, "bench")
        self._secret = await create_channel(tx, realm_id, "secret", invite_only=True)
        self._door = await create_channel(tx, realm_id, "door")
        await subscribe(tx, realm_id, [self._bench, self._secret], everybody)
        await self.hooks.furnish(tx, realm_id, everybody[0])

    def _new_state(self, body: Json) -> ModelState:
        return Witness(body)

    def _is_of_others(self, content: str) -> bool:
        # The last: the notification bot tells whoever is let in again.
        return content.startswith(("piece ", "secret ", "plan ", ASKED, SAID, "@_**Person "))

    def _apply(self, listener: Listener, event: Json) -> None:
        super()._apply(listener, event)
        if event["type"] == "message" and listener is self.listeners[OUTCAST]:
            self.heard_by_outcast.add(event["message"]["id"])

    async def _ask(self, auth: httpx.BasicAuth, method: str, path: str, *, key: str = "", **data: "Any") -> Json | None:
        """The answer of one request, also a refusal; None: nobody knows what became of it."""
        headers = {"Idempotency-Key": key} if key else {}
        url = f"{self._random.choice(self.urls)}/api/v1/{path}"
        reply = await self._try(auth, method, url, headers, **({"data": data} if data else {}))
        if reply is None or reply.status_code >= 500:
            await asyncio.sleep(AFTER_FAILURE)
            return None
        body: Json = reply.json()
        if reply.status_code not in (200, 400):
            raise Mismatch(f"{method} {path} {data}: {reply.status_code} {body}")
        return body

    async def _insist(self, auth: httpx.BasicAuth, method: str, path: str, *, key: str = "", **data: "Any") -> Json:
        """Repeat until there is an answer: what is asked for may be done twice, or bears a key."""
        while (body := await self._ask(auth, method, path, key=key, **data)) is None:
            pass
        if body["result"] != "success":
            raise Mismatch(f"{method} {path} {data}: {body}")
        return body

    # One who works on messages of their own

    async def _work(self, number: int) -> None:
        own: list[Piece] = []
        acts = (self._edit, self._edit, self._move, self._react, self._react, self._mark, self._delete)
        while not self._ending.is_set():
            if len(own) < 3 or self._random.random() < 0.3:
                own.append(await self._make(number))
            piece = self._random.choice(own[-5:])
            if not piece.may_be_gone:
                act = self._random.choice(acts)
                await act(number, piece)
                self.done[act.__name__.strip("_")] += 1
            if self._random.random() < 0.1:
                await self._come_or_go(number)
            if self._random.random() < 0.05:
                self._begin_anew()
            await asyncio.sleep(self._random.uniform(0, 4 * self._pause))

    async def _make(self, number: int) -> Piece:
        text = f"piece {next(self._numbers)}"
        to = {"type": "channel", "to": self._bench, "topic": self._random.choice(["wood", "clay"])}
        body = await self._insist(self._people[number][1], "POST", "messages", key=text, content=text, **to)
        self.pieces.append(piece := Piece(body["id"], text))
        return piece

    async def _edit(self, number: int, piece: Piece) -> None:
        text = f"{piece.text.partition(',')[0]}, text {next(self._numbers)}"
        piece.unsure.add(text)
        body = await self._ask(self._people[number][1], "PATCH", f"messages/{piece.id}", content=text)
        if body is not None:
            _expect_success(body)
            piece.unsure.discard(text)
            piece.text = text

    async def _move(self, number: int, piece: Piece) -> None:
        data = {"topic": self._random.choice(["wood", "clay", "glass"]), "propagate_mode": "change_one"}
        data |= {"send_notification_to_new_thread": "false", "send_notification_to_old_thread": "false"}
        await self._ask(self._people[number][1], "PATCH", f"messages/{piece.id}", **data)  # already there: refused

    async def _react(self, number: int, piece: Piece) -> None:
        emoji = self._random.choice(EMOJI)
        adds = emoji not in piece.reactions
        path, auth = f"messages/{piece.id}/reactions", self._people[number][1]
        body = await self._ask(auth, "POST" if adds else "DELETE", path, emoji_name=emoji)
        if body is None:
            piece.unsure_reactions.add(emoji)
        elif body["result"] == "success":
            piece.reactions ^= {emoji}
        elif emoji not in piece.unsure_reactions:
            raise Mismatch(f"a reaction to {piece} was refused: {body}")

    async def _mark(self, number: int, piece: Piece) -> None:
        flag, op = self._random.choice(["read", "starred"]), self._random.choice(["add", "remove"])
        data = {"messages": msgspec.json.encode([piece.id]).decode(), "op": op, "flag": flag}
        await self._ask(self._people[self._random.randrange(6)][1], "POST", "messages/flags", **data)

    async def _delete(self, number: int, piece: Piece) -> None:
        piece.may_be_gone = True
        body = await self._ask(self._people[0][1], "DELETE", f"messages/{piece.id}")
        if body is not None:
            _expect_success(body)
            piece.is_gone = True

    async def _come_or_go(self, number: int) -> None:
        comes = self._random.random() < 0.5
        wanted = '[{"name": "door"}]' if comes else '["door"]'
        await self._ask(
            self._people[number][1], "POST" if comes else "DELETE", "users/me/subscriptions", subscriptions=wanted
        )
        self.done["come" if comes else "go"] += 1

    def _begin_anew(self) -> None:
        """A client forgets its queue and registers."""
        listener = self._random.choice(self.listeners)
        listener.forget = listener.state is not None

    async def uploads(self, count: int) -> list[int]:
        """So many files at once; the statuses of the answers, 0 without one."""
        return await asyncio.gather(*(self._upload() for _ in range(count)))

    async def _upload(self) -> int:
        url = f"{self._random.choice(self.urls)}/api/v1/user_uploads"
        given: Json = {"files": {"file": ("words.txt", b"words")}, "timeout": 60}
        reply = await self._try(self._people[1][1], "POST", url, {}, **given)
        return reply.status_code if reply is not None else 0

    # The one who guards the private channel, and the one who plans

    async def _guard(self) -> None:
        auth, outcast = self._people[0][1], self._people[OUTCAST][0]
        who = msgspec.json.encode([outcast]).decode()
        to = {"type": "channel", "to": self._secret, "topic": "talk"}
        for number in itertools.count(1):
            if self._ending.is_set():
                return
            await self._insist(auth, "DELETE", "users/me/subscriptions", subscriptions='["secret"]', principals=who)
            text = f"secret {number} without"
            self.forbidden.add((await self._insist(auth, "POST", "messages", key=text, content=text, **to))["id"])
            invited = {"subscriptions": '[{"name": "secret"}]', "principals": who}
            await self._insist(auth, "POST", "users/me/subscriptions", **invited)
            text = f"secret {number} with"
            await self._insist(auth, "POST", "messages", key=text, content=text, **to)
            await asyncio.sleep(self._random.uniform(0, 8 * self._pause))

    async def _plan(self) -> None:
        auth = self._people[1][1]
        for number in itertools.count(1):
            if self._ending.is_set():
                return
            text = f"plan {number}"
            to = {"type": "channel", "to": f"{self._bench}", "topic": "plans"}
            self.unsure_plans.add(text)
            due = {"scheduled_delivery_timestamp": f"{int(time.time()) + self._random.randint(2, 6)}"}
            body = await self._ask(auth, "POST", "scheduled_messages", content=text, **to, **due)
            if body is not None:
                self.unsure_plans.discard(text)
                if body["result"] == "success":  # refused: its time passed on the way
                    self.planned.add(text)
            await asyncio.sleep(self._random.uniform(0.2, 1.0))

    async def _invite(self) -> None:
        while not self._ending.is_set():
            address = self.invitations.new_address()
            body = await self._ask(
                self._people[0][1], "POST", "invites", invitee_emails=address, stream_ids=f"[{self._bench}]"
            )
            if body is not None:
                _expect_success(body)
                self.invitations.promised.add(address)
            await asyncio.sleep(self._random.uniform(0.5, 1.5))

    async def _call_bot(self) -> None:
        to = {"type": "channel", "to": self._bench, "topic": "bot"}
        while not self._ending.is_set():
            text = self.hooks.new_text()
            await self._insist(self._people[2][1], "POST", "messages", key=text, content=text, **to)
            self.hooks.promised.add(text)
            await asyncio.sleep(self._random.uniform(0.3, 1.0))

    # The end

    async def _check_stored(self) -> None:
        connection = await asyncpg.connect(self._server.postgres_url)
        try:
            await self._await_plans(connection)
            await super()._check_stored()
            await self.invitations.check()
            await self.hooks.check()
        finally:
            await connection.close()
        deadline = time.monotonic() + ANSWERS_SECONDS
        while True:
            stored = await self._read_stored()
            texts = [row["content"] for row in stored.values()]
            if self.hooks.is_all_said(Counter(texts)):
                break
            if time.monotonic() > deadline:
                raise Mismatch("a bot was called, and not all of its answers were said")
            await asyncio.sleep(1)
        for piece in self.pieces:
            _check_piece(piece, stored.get(piece.id))
        times = Counter(text for text in texts if text.startswith(("plan ", "secret ")))
        if wrong := {text: times[text] for text in self.planned if times[text] != 1}:
            raise Mismatch(f"planned, and said so many times: {wrong}")
        if wrong := {text: count for text, count in times.items() if count != 1}:
            raise Mismatch(f"said more than once: {wrong}")
        if late := self.forbidden & self.heard_by_outcast:
            raise Mismatch(f"somebody who had been put out heard {sorted(late)}")

    async def _await_plans(self, connection: "Any", seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while await connection.fetchval(
            "select exists (select from scheduled_message where realm_id = $1)", self.realm_id
        ):
            assert time.monotonic() < deadline, "planned messages wait for ever"
            await asyncio.sleep(0.2)

    async def _read_stored(self) -> "dict[int, Any]":
        connection = await asyncpg.connect(self._server.postgres_url)
        try:
            return {row["id"]: row for row in await connection.fetch(_STORED, self.realm_id)}
        finally:
            await connection.close()

    async def _check_listeners(self, listening: "Any") -> None:
        await super()._check_listeners(listening)
        stored = await self._read_stored()
        for number, listener in enumerate(self.listeners):
            assert isinstance(listener.state, Witness)
            for message_id, seen in listener.state.messages.items():
                row = stored.get(message_id)
                if row is None:
                    raise Mismatch(f"listener {number} still has {message_id}, {seen}")
                if (seen.content, seen.topic, seen.reactions) != (
                    row["content"],
                    row["topic"] or "",
                    set(_reactions(row)),
                ):
                    raise Mismatch(f"listener {number} has {message_id} as {seen}, stored is {dict(row)}")


_STORED = """
select message.id, content, topic.name as topic,
    array(select user_id || ' ' || emoji_name from reaction where message_id = message.id) as reactions
from message left join topic on topic.id = topic_id where message.realm_id = $1
"""


def _check_piece(piece: Piece, row: "Any") -> None:
    if row is None:
        if not piece.may_be_gone:
            raise Mismatch(f"{piece} is not stored")
        return
    if piece.is_gone:
        raise Mismatch(f"{piece} was deleted and is stored: {dict(row)}")
    if row["content"] not in {piece.text} | piece.unsure:
        raise Mismatch(f"{piece} is stored as {row['content']!r}")
    stored = {emoji for _, emoji in _reactions(row)}
    if stored - piece.unsure_reactions != piece.reactions - piece.unsure_reactions:
        raise Mismatch(f"{piece} has the reactions {stored}")


def _reactions(row: "Any") -> list[tuple[int, str]]:
    pairs = [text.split(" ", 1) for text in row["reactions"]]
    return [(int(user_id), emoji) for user_id, emoji in pairs]


def _expect_success(body: Json) -> None:
    if body["result"] != "success":
        raise Mismatch(f"refused: {body}")
