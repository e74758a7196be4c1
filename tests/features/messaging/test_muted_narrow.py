"""What is muted is found from what the reader muted: whatever else was ever said is not read for it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tertulia.messaging.narrows.conditions import Condition, Has, InTopic, InTopicId, IsHidden, SentBy
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.statements import ids_from
from tertulia.messaging.reading.windows import NEWEST
from tests.harness.stage import Stage

PAST = 400
MUTED = [{"operator": "is", "operand": "muted"}]
NOT_AT_HOME = [{"operator": "in", "operand": "home", "negated": True}]


class Room:
    """Somebody in a channel with a long past, all of it in one topic, and one message beside it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.reader, self.writer = stage.speaker(), stage.speaker()
        self.channel = stage.channel(self.reader, self.writer)
        first = self.writer.send(self.channel.stream_id, "busy")
        self.aside = self.writer.send(self.channel.stream_id, "aside")
        self._fill(first)
        [(self.busy,)] = stage.sql("select topic_id from message where id = %s", first)

    def _fill(self, first: int) -> None:
        """Copies of a message."""
        columns = "realm_id, conversation_id, topic_id, sender_id, sent_at, client, content, rendered"
        copies = f"insert into message ({columns}, seq) select {columns}, seq + 10 + n from message, generate_series(1, %s) as n"
        self.stage.sql(f"{copies} where id = %s", PAST, first)
        longer = "update conversation set last_seq = last_seq + %s where id = %s"
        self.stage.sql(longer, PAST + 20, self.channel.stream_id)

    def found(self, narrow: list[dict[str, Any]]) -> list[int]:
        """What a fetch finds."""
        answer = self.reader.get("messages", anchor="newest", num_before=1000, num_after=0, narrow=narrow)
        return [message["id"] for message in answer["messages"]]

    def narrows(self) -> Iterator[Narrowed]:
        """Whatever may be asked beside `is:muted`."""
        me = self.reader.id
        beside: list[tuple[Condition, ...]] = [
            (),
            (SentBy(user_id=self.writer.id),),
            (InTopic(key="busy"),),
            (Has(what="link"),),
            (Has(what="reaction"),),
        ]
        for conditions in beside:
            yield Narrowed(user_id=me, realm_id=self.stage.realm_id, conditions=(IsHidden(), *conditions))
        for conditions in ((), (InTopicId(id=self.busy),), (SentBy(user_id=self.writer.id),)):
            yield Narrowed(
                user_id=me,
                realm_id=self.stage.realm_id,
                conditions=(IsHidden(), *conditions),
                conversation_id=self.channel.stream_id,
                sees_all=True,
            )

    def read_for(self, narrow: Narrowed, *, downwards: bool) -> int:
        """How many messages PostgreSQL looks at."""
        statement = ids_from(narrow, NEWEST if downwards else 0, 100, downwards=downwards)
        assert len(statement.sql.encode()) < 15_360, "asyncpg keeps no longer statements"
        types = dict(re.findall(r"\$(\d+)::(\w+(?:\[\])?)", statement.sql))
        kinds = ", ".join(types[str(place + 1)] for place in range(len(statement.arguments)))
        places = ", ".join(["%s"] * len(statement.arguments))
        with self.stage.session() as ask:
            ask("set local enable_seqscan = off")  # the tables of a test are so small that reading them whole is cheap
            ask(f"prepare narrow({kinds}) as {statement.sql.replace('%', '%%')}")
            [(plans,)] = ask(f"explain (analyze, format json) execute narrow({places})", *statement.arguments)
            ask("deallocate narrow")
        return sum(map(_looked_at, _nodes(plans[0]["Plan"])))


@pytest.fixture
def room(stage: Stage) -> Room:
    return Room(stage)


def mute(room: Room, topic: str, policy: int = 1) -> None:
    room.reader.post("user_topics", stream_id=room.channel.stream_id, topic=topic, visibility_policy=policy)


def mute_channel(room: Room) -> None:
    data = [{"stream_id": room.channel.stream_id, "property": "is_muted", "value": True}]
    room.reader.post("users/me/subscriptions/properties", subscription_data=data)


def check_reads_little(room: Room, at_most: int) -> None:
    # The planner is to know what is there: otherwise the plan hangs on what other tests left behind.
    room.stage.sql("analyze message, topic, topic_policy, subscription")
    for downwards in (True, False):
        for narrow in room.narrows():
            assert room.read_for(narrow, downwards=downwards) <= at_most, narrow


@pytest.mark.parametrize("narrow", [MUTED, NOT_AT_HOME])
def test_who_muted_nothing_has_nothing_read(room: Room, narrow: list[dict[str, Any]]) -> None:
    assert room.found(narrow) == []
    check_reads_little(room, 0)


def test_of_a_muted_topic_only_its_own_messages_are_read(room: Room) -> None:
    mute(room, "aside")
    assert room.found(MUTED) == room.found(NOT_AT_HOME) == [room.aside]
    check_reads_little(room, PAST // 10)  # it may as well begin with the few that have a link


def test_in_a_muted_channel_whose_topics_were_all_chosen_nothing_is_read(room: Room) -> None:
    mute_channel(room)
    assert len(room.found(MUTED)) == PAST + 2
    for topic in ("busy", "aside"):
        mute(room, topic, 3)
    assert room.found(MUTED) == []
    check_reads_little(room, 0)


def test_a_topic_that_was_chosen_is_not_read_when_it_is_named(room: Room) -> None:
    mute_channel(room)
    mute(room, "busy", 2)
    named = [{"operator": "topic", "operand": "busy"}]
    assert room.found([*MUTED, *named]) == []
    assert room.found(MUTED) == [room.aside]
    [by_name] = [one for one in room.narrows() if any(isinstance(each, InTopic) for each in one.conditions)]
    [by_id] = [one for one in room.narrows() if any(isinstance(each, InTopicId) for each in one.conditions)]
    assert room.read_for(by_name, downwards=True) == room.read_for(by_id, downwards=True) == 0


def _looked_at(node: dict[str, Any]) -> int:
    if node.get("Relation Name") != "message":
        return 0
    removed: int = node.get("Rows Removed by Filter", 0)
    looked_at: int = (node["Actual Rows"] + removed) * node["Actual Loops"]
    return looked_at


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
