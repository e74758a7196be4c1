"""Calls to a bot's server that people are promised: a message that was answered and names the bot is posted to its server, and
the server's answer is said once, whatever happens to the workers.

A worker that dies between the call and writing that down leaves it to be made again: that is counted, and right.
"""

import asyncio
import json
import time
from collections import Counter

from tertulia.kernel.auth import BotType
from tertulia.kernel.db import Transaction
from tertulia.kernel.ids import new_api_key
from tertulia.people.bots.model import Service
from tertulia.people.bots.queries import put_service
from tertulia.people.users.actions import create_user
from tests.harness.bot_server import Answer, BotServer, Posted
from tests.system.model_client import Mismatch

BOT = "Caller"
ASKED, SAID = "hook ", "answer to hook "


class Hooks:
    """A bot and its server."""

    def __init__(self) -> None:
        self._server = BotServer()
        self._server.answer = self._answer
        self._count = 0
        self.called: Counter[str] = Counter()
        self.promised: set[str] = set()

    async def furnish(self, tx: Transaction, realm_id: int, owner_id: int) -> None:
        """Make the bot."""
        email = "caller-bot@example.com"
        bot = BotType.OUTGOING_WEBHOOK.value
        bot_id = await create_user(tx, realm_id, email, BOT, bot_type=bot, bot_owner_id=owner_id)
        await put_service(tx, bot_id, Service(self._server.url, 1, token=new_api_key()))

    def new_text(self) -> str:
        self._count += 1
        return f"{ASKED}{self._count} @**{BOT}**"

    async def check(self, seconds: float = 90) -> None:
        """All that were promised have been called, soon."""
        deadline = time.monotonic() + seconds
        while missing := self.promised - self.called.keys():
            if time.monotonic() > deadline:
                raise Mismatch(f"sent, and the bot's server was not called: {sorted(missing)[:5]} of {len(missing)}")
            await asyncio.sleep(0.2)

    def is_all_said(self, said: Counter[str]) -> bool:
        """By the texts of all messages: whether each answer is there. A worker may have been cut off with some of them; then
        the calls are made again after half a minute."""
        wanted = {f"{SAID}{_number(text)}" for text in self.promised}
        if doubled := {text: said[text] for text in wanted if said[text] > 1}:
            raise Mismatch(f"answers of a bot were said more than once: {doubled}")
        return all(said[text] for text in wanted)

    def stop(self) -> None:
        self._server.stop()

    def _answer(self, posted: Posted) -> Answer:
        text: str = posted.json["data"]
        self.called[text] += 1
        return 200, "application/json", json.dumps({"content": f"{SAID}{_number(text)}"}).encode()


def _number(text: str) -> str:
    return text.split()[1]
