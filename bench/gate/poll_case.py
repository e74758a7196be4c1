"""Many waiting polls, released by one message; beside it as many that wait at bare uvicorn and get the same bytes."""

import asyncio
from collections.abc import Callable

import msgspec

from bench.gate.baseline import WEB, Figures
from bench.gate.case import Case
from bench.gate.scene import Scene, Used
from bench.http_bytes import request, send_request
from bench.polls import Registered, poll_request, read, waiting_polls

POLLS = 300
WAIT_SECONDS = 60.0
_FIELDS = {"event_types": '["message"]', "fetch_event_types": "[]", "apply_markdown": "true"}


class _Event(msgspec.Struct):
    id: int


class _Events(msgspec.Struct):
    events: list[_Event]


AT_ONCE = 8
"""Registrations: more would be told to come back later."""


class PollsReleased(Case):
    """The processor time of the web process, from the message to the last answer. What is counted is a whole release."""

    name = "a poll released"

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._users = [scene.people[number % len(scene.people)] for number in range(POLLS)]
        self._queues: list[Registered] = []
        self._held: asyncio.Task[list[bytes]] | None = None
        self._size = 0
        self._trigger = send_request(scene.quiet_channels[1].stream_id, scene.people[0])

    async def begin(self) -> None:
        requests = [[request("POST", "/api/v1/register", user, _FIELDS)] for user in self._users]
        answers: list[bytes] = []
        for start in range(0, POLLS, AT_ONCE):
            answers += await self.scene.ask(self.scene.stage.port, requests[start : start + AT_ONCE])
        self._queues = [msgspec.json.decode(answer, type=Registered) for answer in answers]

    async def end(self) -> None:
        await self.scene.delete_queues(zip(self._users, [queue.queue_id for queue in self._queues], strict=True))

    async def round(self) -> Figures:
        scene = self.scene
        await self.prepare_turn()
        held = asyncio.create_task(scene.ask(scene.bare_port, [[request("GET", f"/poll/{self._size}")]] * POLLS))
        await _await_count(lambda: int(read(f"http://127.0.0.1:{scene.bare_port}/waiting")))
        before = await scene.clocks()
        await self.turn()
        await scene.ask(scene.bare_port, [[request("POST", "/release")]], line="trigger")
        await held
        used = Used.between(before, await scene.clocks())
        return {WEB: used.web / used.bare_web}

    async def prepare_turn(self) -> None:
        pairs = zip(self._users, self._queues, strict=True)
        requests = [[poll_request(*pair)] for pair in pairs]
        self._held = asyncio.create_task(self.scene.ask(self.scene.stage.port, requests))
        await _await_count(lambda: waiting_polls(self.scene.stage.server.metrics))

    async def turn(self) -> None:
        await self.scene.ask(self.scene.stage.port, [[self._trigger]], line="trigger")
        assert self._held is not None
        answers = await self._held
        self._size = len(answers[0])
        for queue, answer in zip(self._queues, answers, strict=True):
            queue.last_event_id = msgspec.json.decode(answer, type=_Events).events[-1].id


async def _await_count(waiting: Callable[[], int]) -> None:
    """Until all polls wait."""
    async with asyncio.timeout(WAIT_SECONDS):
        while await asyncio.to_thread(waiting) < POLLS:
            await asyncio.sleep(0.05)
