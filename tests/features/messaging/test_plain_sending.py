"""The small statement for plain messages (SEND_PLAIN) beside the large one: whatever it stores, SEND would have stored alike.

Random organizations and batches; both statements do the same batch in turn, and what each returns and leaves in the tables is
compared before it is undone.
"""

import os
import random
import re
from collections import Counter
from typing import Any

import asyncpg
import pytest

from tertulia.conversations.read_state.marks import Facts
from tertulia.events.log.record import Audience
from tertulia.kernel.db import Transaction
from tertulia.kernel.text import name_key_of
from tertulia.messaging.mentions.rules import MANY
from tertulia.messaging.sending.actions import outgoing
from tertulia.messaging.sending.model import Composed, Outgoing, Place, SendRequest
from tertulia.messaging.sending.queries import make_direct_conversation
from tertulia.messaging.sending.rules import ToChannel
from tertulia.messaging.sending.statements import SEND, SEND_PLAIN, columns, is_plain, plain_columns
from tertulia.people.users.authentication.queries import get_owner
from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import Speaker

# More of them: TERTULIA_PLAIN=1000 bin/test tests/features/messaging/test_plain_sending.py
EXAMPLES = int(os.environ.get("TERTULIA_PLAIN", "12"))
BATCHES = 25
TOPICS = ("", "tea", "Tea", "milk")
EMIT = "pg_logical_emit_message(true, subject, body)"
GROUPS = ("role:everyone", "role:members", "role:moderators", "role:nobody")
SETTINGS = ("can_send_message_group", "can_create_topic_group", "can_subscribe_group")

TABLES = (
    "select id, last_seq from conversation where realm_id = $1 order by id",
    """select conversation.id, name, name_key, topic.last_seq from topic join conversation on conversation.id = conversation_id
    where realm_id = $1 order by 1, 3""",
    """select message.realm_id, message.conversation_id, seq, topic.name, sender_id, client, content, rendered, wildcard,
        has_link, has_image, has_attachment from message left join topic on topic.id = topic_id
    where message.realm_id = $1 order by 2, 3""",
    """select conversation_id, name_key, user_id from topic_participant join topic on topic.id = topic_id
    join conversation on conversation.id = conversation_id where realm_id = $1 order by 1, 2, 3""",
    """select conversation_id, user_id, read::text, history::text from read_state
    join conversation on conversation.id = conversation_id where realm_id = $1 order by 1, 2""",
    """select sent_request.sender_id, key, conversation_id, seq, policy from sent_request join message on message.id = message_id
    where realm_id = $1 order by 1, 2""",
    "select user_id, flag, seq from message_mark join message on message.id = message_id where realm_id = $1 order by 1, 2, 3",
)


class _Undone(Exception):
    """What was done is not to stay."""


class World:
    """An organization whose channels and people have settings of all kinds."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.random = random.Random(seed)
        self.stage = stage
        self.realm = Realm(stage)
        self.people: list[Speaker] = [*self.realm.all, self.realm.bot(self.realm.moderator), self.realm.speaker()]
        groups = stage.sql("select name, id from user_group where realm_id = %s", self.realm.id)
        self.groups = dict(groups)
        sql = (
            "insert into realm_permission (realm_id, setting, group_id) values (%s, 'can_mention_many_users_group', %s)"
        )
        stage.sql(sql, self.realm.id, self.groups[self.random.choice(GROUPS)])
        self.channels = [self._make_channel() for _ in range(5)]
        for person in self.people:
            follow, unmute = self.random.randint(1, 4), self.random.randint(1, 4)
            sql = """update account set settings = settings || jsonb_build_object('automatically_follow_topics_policy', %s,
                'automatically_unmute_topics_in_muted_streams_policy', %s) where id = %s"""
            stage.sql(sql, follow, unmute, person.id)
        stage.sql("update subscription set is_muted = random() < 0.3 where channel_id = any(%s)", self.channels)
        gone = self.people[-1]
        stage.sql("update account set is_active = random() < 0.5 where id = %s", gone.id)
        stage.sql("insert into muted_user (user_id, muted_id) values (%s, %s)", self.people[0].id, self.people[1].id)

    def _make_channel(self) -> int:
        inside = [person for person in self.people if self.random.random() < 0.6]
        private = self.random.random() < 0.4
        made = self.stage.channel(*inside, invite_only=private, realm_id=self.realm.id)
        changes: dict[str, Any] = {"history_public_to_subscribers": not private or self.random.random() < 0.5}
        changes["is_archived"] = self.random.random() < 0.1
        if self.random.random() < 0.5:
            changes["subscriber_count"] = MANY + 1  # a mention of all of them is one of many
        for setting in SETTINGS:
            if self.random.random() < 0.5:
                changes[setting] = self.groups[self.random.choice(GROUPS)]
        columns = ", ".join(f"{name} = %s" for name in changes)
        self.stage.sql(f"update channel set {columns} where id = %s", *changes.values(), made.stream_id)
        return made.stream_id

    async def batch(self, tx: Transaction) -> list[Outgoing]:
        return [await self._message(tx) for _ in range(self.random.choice((1, 1, 1, 2, 4)))]

    async def _message(self, tx: Transaction) -> Outgoing:
        who = self.random.choice(self.people)
        sender = (await get_owner(tx, who.id)).caller
        place = await (self._direct(tx, who) if self.random.random() < 0.2 else self._channel(tx))
        facts = int(self.random.choice((0, 0, Facts.LINK, Facts.IMAGE)))
        if place.is_channel and self.random.random() < 0.3:
            facts |= int(Facts.CHANNEL_WILDCARD)
        key = self.random.choice((None, None, f"key {self.random.randint(1, 30)}"))
        read = self.random.random() < 0.5
        asked = SendRequest(ToChannel(place.conversation_id, "x"), "Hello", "test", read=read, key=key)
        return outgoing(sender, place, Composed("Hello", "<p>Hello</p>", facts), asked)

    async def _channel(self, tx: Transaction) -> Place:
        number, topic = self.random.choice(self.channels), self.random.choice(TOPICS)
        sql = "select name, concat_ws(' ', invite_only::text, topics_policy, name) as seen from channel where id = $1"
        row = await tx.fetchrow(sql, number)
        assert row is not None
        seen = row["seen"] if self.random.random() < 0.95 else "it was something else"
        audience = Audience(channel=number)
        return Place(number, audience, row["name"], topic, name_key_of(topic), channel_seen=seen)

    async def _direct(self, tx: Transaction, who: Speaker) -> Place:
        other = self.random.choice(self.people)
        people = tuple(sorted({who.id, other.id}))
        made, _ = await make_direct_conversation(tx, self.realm.id, people)
        return Place(made, Audience(users=people))


async def left_behind(tx: Transaction, realm_id: int) -> list[Any]:
    return [[tuple(row) for row in await tx.fetch(sql, realm_id)] for sql in TABLES]


async def done(tx: Transaction, realm_id: int, sql: str, arguments: list[Any], *, keep: bool) -> tuple[list[Any], Any]:
    """What a statement returns, and what is in the tables then; undone unless it is to stay."""
    assert EMIT in sql
    said: list[Any] = []
    left: Any = None
    try:
        async with tx.connection.transaction():
            # Without an event for others: its text is compared instead.
            rows = await tx.fetch(sql.replace(EMIT, "body as told"), *arguments)
            for row in sorted(rows, key=lambda row: row["ord"]):
                seq = await tx.fetchval("select seq from message where id = $1", row["id"])
                told = re.sub(r'^\d+ |"id":\d+|"at":\d+', "", row["told"] or "")
                said.append((row["ord"], seq, told, row["topic_name"], row["new_policy"], row["followers"]))
            left = await left_behind(tx, realm_id)
            if not keep:
                raise _Undone
    except _Undone:
        pass
    return said, left


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_what_the_small_statement_stores_the_large_one_stores_alike(stage: Stage, seed: int) -> None:
    world = World(stage, seed)
    seen: Counter[str] = Counter()

    async def compare(tx: Transaction) -> None:
        batch = await world.batch(tx)
        assert all(map(is_plain, batch))
        before = await left_behind(tx, world.realm.id)
        try:
            small = await done(tx, world.realm.id, SEND_PLAIN, plain_columns(batch, tx.shards), keep=False)
            large = await done(tx, world.realm.id, SEND, columns(batch, tx.shards), keep=True)
        except asyncpg.UniqueViolationError as error:
            raise _Undone from error  # the same key twice in a batch: the lane tries its messages one by one
        if small[0]:
            assert len(small[0]) == len(batch)
            assert small == large
            seen["stored"] += 1
        else:
            assert small[1] == before
            seen["left to the large one"] += 1
            seen["stored by the large one only"] += bool(large[0])

    for _ in range(BATCHES):
        try:
            stage.write(compare)
        except _Undone:
            seen["twice"] += 1
    assert seen["stored"] >= BATCHES // 5, seen
    assert seen["left to the large one"], seen
