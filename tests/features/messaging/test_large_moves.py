"""Large topics of channels with many readers, each of whom knows another part: what moves them holds nobody up."""

import random
import time
from collections.abc import Sequence

import pytest

from tertulia.messaging.editing.model import Moving
from tertulia.messaging.editing.queries import MAX_PIECES
from tertulia.messaging.editing.received import MAX_TOLD, Parts
from tests.contract.changes import edit
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker
from tests.harness.waits import waits_of

PEOPLE, MESSAGES = 300, 4000
WHOLE: Json = {"propagate_mode": "change_all", "send_notification_to_new_thread": False}


class Wide:
    """A private channel with protected history: two topics whose messages alternate, and a crowd that joined one by one."""

    def __init__(self, realm: Realm) -> None:
        self.realm = realm
        self.channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id, invite_only=True)
        self.first = realm.owner.send(self.channel.stream_id, "topic")
        realm.owner.send(self.channel.stream_id, "other")
        self._say()
        self.crowd = [user for (user,) in self._join()]
        for table in ("account", "message", "read_state", "subscription"):
            realm.stage.sql(f"analyze {table}")

    def _say(self) -> None:
        channel_id = self.channel.stream_id
        self.realm.stage.sql("update channel set history_public_to_subscribers = false where id = %s", channel_id)
        self.realm.stage.sql(
            """
            with place as (
                update conversation set last_seq = last_seq + %s where id = %s returning id, last_seq - %s as seq
            ), sample as (
                select message.*, row_number() over (order by id) - 1 as turn from message where conversation_id = %s
            )
            insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
            select realm_id, conversation_id, place.seq + number, topic_id, sender_id, client, content, rendered
            from generate_series(1, %s) as number join sample on turn = (number - 1) %% 2, place order by number
            """,
            *(MESSAGES, channel_id, MESSAGES, channel_id, MESSAGES),
        )
        sql = "update topic set last_seq = (select max(seq) from message where topic_id = topic.id) where conversation_id = %s"
        self.realm.stage.sql(sql, channel_id)

    def _join(self) -> list[tuple[int]]:
        channel_id = self.channel.stream_id
        return self.realm.stage.sql(
            """
            with person as (
                insert into account (realm_id, email, email_key, full_name)
                select %s, address, address, 'Crowd' from (
                    select 'c' || number || '.' || %s || '@example.com' as address from generate_series(1, %s) as number
                ) as made returning id
            ), inside as (
                insert into subscription (user_id, channel_id, color) select id, %s, '#aabbcc' from person
            )
            insert into read_state (conversation_id, user_id, history)
            select %s, id, int8multirange(int8range(1 + %s * row_number() over (order by id), null)) from person
            returning user_id
            """,
            *(self.realm.id, channel_id, PEOPLE, channel_id, channel_id, MESSAGES // PEOPLE),
        )

    def elsewhere(self) -> Channel:
        """Another channel with all of them."""
        channel = self.realm.stage.channel(self.realm.owner, self.realm.member, realm_id=self.realm.id)
        sql = "insert into subscription (user_id, channel_id, color) select unnest(%s), %s, '#aabbcc'"
        self.realm.stage.sql(sql, self.crowd, channel.stream_id)
        sql = "insert into read_state (user_id, conversation_id, history) select unnest(%s), %s, '{[1,)}'"
        self.realm.stage.sql(sql, self.crowd, channel.stream_id)
        return channel

    def unread(self, channel: Channel) -> list[int]:
        """How many messages each of the crowd has not read there."""
        sql = """
        select (select coalesce(sum(upper(gap) - lower(gap)), 0)
                from unnest(history * int8multirange(int8range(1, last_seq + 1)) - read) as gap)::int
        from read_state join conversation on conversation.id = conversation_id
        where conversation_id = %s and user_id = any(%s) order by user_id
        """
        return [count for (count,) in self.realm.stage.sql(sql, channel.stream_id, self.crowd)]


@pytest.fixture
def wide(realm: Realm) -> Wide:
    return Wide(realm)


@pytest.mark.timed
@pytest.mark.parametrize("topic", ["other", "new"])
def test_a_large_topic_of_which_everybody_knows_another_part_gets_its_topic_at_once(wide: Wide, topic: str) -> None:
    """One way its messages go into another topic, the other way it is renamed."""
    realm = wide.realm
    with (
        waits_of(realm.stage.nobody(host=realm.host)) as waits,
        realm.member.register(event_types=["update_message"]) as queue,
    ):
        began = time.perf_counter()
        edit(realm.owner, wide.first, topic=topic, **WHOLE)
        took = time.perf_counter() - began
        [event] = queue.poll()
    assert len(event["message_ids"]) == MESSAGES // 2 + 1
    assert took < 3, "it took 4 s and more"
    assert max(waits) < 0.5, "others waited 0.7 s and more, and by the square with more readers"


@pytest.mark.timed
def test_what_was_unread_for_many_in_a_large_topic_goes_along_to_another_channel_at_once(wide: Wide) -> None:
    """The topic is all through the channel, so what each has not read of it is as many gaps as it has messages."""
    target = wide.elsewhere()
    each = MESSAGES // PEOPLE
    began = time.perf_counter()
    edit(wide.realm.owner, wide.first, stream_id=target.stream_id, topic="there", **WHOLE)
    assert time.perf_counter() - began < 5, "it was given up after a minute, and the channels were held so long"
    seqs = [1, *range(3, MESSAGES + 3, 2)]
    assert wide.unread(target) == [sum(1 for seq in seqs if seq > each * n) for n in range(1, PEOPLE + 1)]


@pytest.mark.timed
def test_whoever_came_and_went_thousands_of_times_hears_of_the_newest_pieces_and_holds_nobody_up(wide: Wide) -> None:
    realm = wide.realm
    realm.stage.sql(
        """
        update read_state set history = int8multirange(int8range(%s, null)) + (
            select range_agg(int8range(seq, seq + 1)) from generate_series(1 + (user_id %% 2) * 2, %s, 2) as seq
        ) where conversation_id = %s and user_id <> %s
        """,
        *(MESSAGES + 1, MESSAGES, wide.channel.stream_id, realm.owner.id),
    )
    with (
        waits_of(realm.stage.nobody(host=realm.host)) as waits,
        realm.member.register(event_types=["update_message"]) as queue,
    ):
        edit(realm.owner, wide.first, topic="new", **WHOLE)
        [event] = queue.poll()
    assert len(event["message_ids"]) == MAX_PIECES
    assert max(waits) < 0.5, "each of them was as many ranges as they had come"


def test_what_is_unread_stays_so_when_messages_came_in_another_order_than_they_were_sent(realm: Realm) -> None:
    one, two = (realm.stage.channel(realm.owner, realm.member, realm_id=realm.id) for _ in range(2))
    sent = [realm.owner.send(one.stream_id, "topic", read_by_sender=True) for _ in range(12)]
    realm.member.post("messages/flags", messages=sent[::3] + sent[4:6], op="add", flag="read")
    unread = [number for number in sent if number not in sent[::3] + sent[4:6]]
    for number in random.Random(25).sample(sent, len(sent)):
        edit(realm.owner, number, stream_id=two.stream_id, send_notification_to_new_thread=False)
    assert unread_in(realm.member, two, "topic") == unread
    edit(realm.owner, sent[0], stream_id=one.stream_id, topic="back", **WHOLE)
    assert unread_in(realm.member, one, "back") == unread
    assert unread_in(realm.member, two, "topic") == []
    shown = realm.member.window("oldest", after=100, narrow=[{"operator": "channel", "operand": one.stream_id}])
    assert [message["id"] for message in shown["messages"] if "read" not in message["flags"]] == unread


def unread_in(speaker: Speaker, channel: Channel, topic: str) -> list[int]:
    state = speaker.post("register", event_types=[], fetch_event_types=["message", "update_message_flags"])
    speaker.delete("events", queue_id=state["queue_id"])
    streams: Sequence[Json] = state["unread_msgs"]["streams"]
    found = [
        one["unread_message_ids"] for one in streams if (one["stream_id"], one["topic"]) == (channel.stream_id, topic)
    ]
    return [number for ids in found for number in ids]


class Span:
    """As the database gives a range."""

    def __init__(self, lower: int | None, upper: int | None) -> None:
        self.lower, self.upper = lower, upper


def test_everybody_is_told_the_newest_of_what_they_have_received_and_all_of_it_together_is_bounded() -> None:
    count = 2000
    messages = [Moving(10_000 - seq if seq < 10 else 10_000 + seq, seq) for seq in range(count)]
    few = Parts(messages)
    few.add([1], [Span(None, 3), Span(1990, None)])
    few.add([2], [Span(0, 1), Span(1, 3), Span(1990, 5000)])
    few.add([3], [Span(5000, None)])
    assert [users for users, _ in few.by_users()] == [[1, 2]], "the same part, and who knows nothing hears nothing"
    assert [ids for _, ids in few.by_users()] == [[9998, 9999, 10_000, *range(11_990, 12_000)]]
    many = Parts(messages)
    for user in range(1000):
        many.add([user], [Span(user, None)])
    told = list(many.by_users())
    assert sum(len(ids) for _, ids in told) <= MAX_TOLD
    assert all(ids == sorted(ids) and ids[-1] == 10_000 + count - 1 for _, ids in told)
    assert min(len(ids) for _, ids in told) == MAX_TOLD // 1000
