"""The least that PostgreSQL can do for the rows of each case: the references of its processor time.

They write to the same tables, with the same indexes and the same event in the write-ahead log, in conversations that no
case uses; they ask for no rights and return nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from bench.http_bytes import CONTENT


class BareStatement(NamedTuple):
    """Run in one transaction."""

    sql: str
    arguments: Sequence[object]
    units: int = 1
    """How many units of a case it stands for."""


# An event of a message is about as long as this.
_EVENT = '{"stamp":{},' + "x" * 600 + "}"

_STORE = """
with advanced as (
    update conversation set last_seq = last_seq + $3::int where id = $1 returning id, realm_id, last_seq
), talked as (
    update topic set last_seq = advanced.last_seq from advanced where conversation_id = advanced.id and topic.id = $4
), seen as (
    update read_state set read = read + int8multirange(int8range(last_seq - $3::int + 1, last_seq + 1))
    from advanced where conversation_id = advanced.id and user_id = $2
), stored as (
    insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
    select realm_id, id, last_seq - $3::int + number, $4::bigint, $2::bigint, 'bench', $5::text, '<p>' || $5::text || '</p>'
    from advanced, generate_series(1, $3::int) as number returning id
)
select pg_logical_emit_message(true, 'bench', $6::text) from stored
"""
_READ_100 = "select * from message where conversation_id = $1 order by id desc limit 100"
_SUBSCRIBERS = """
select account.id, account.settings from subscription join account on account.id = user_id
where channel_id = $1 and subscription.is_active
"""
_MARK = """
with seen as (
    update read_state set read = read + int8multirange(int8range(last_seq, last_seq + 1))
    from conversation where conversation.id = conversation_id and conversation_id = $1 and user_id = $2
)
select pg_logical_emit_message(true, 'bench', $3)
"""
_CHANGE = """
with changed as (update topic set last_seq = last_seq where id = $1)
select pg_logical_emit_message(true, 'bench', $2)
"""
_STATE = """
select (select json_agg(account) from account), (select json_agg(channel) from channel),
    (select json_agg(subscription) from subscription where user_id = $1),
    (select json_agg(topic) from topic)
"""


def store_messages(channel_id: int | str, topic_id: int | str, sender_id: int | str, count: int) -> BareStatement:
    """As many messages in one transaction. Text instead of an id is a variable of pgbench."""
    return BareStatement(_STORE, (channel_id, sender_id, count, topic_id, CONTENT, _EVENT), count)


def read_100_messages(channel_id: int) -> BareStatement:
    return BareStatement(_READ_100, (channel_id,))


def read_subscribers(channel_id: int) -> BareStatement:
    return BareStatement(_SUBSCRIBERS, (channel_id,))


def mark_read(channel_id: int, user_id: int) -> BareStatement:
    return BareStatement(_MARK, (channel_id, user_id, _EVENT))


def change_one_row(topic_id: int) -> BareStatement:
    """One row and its event, whatever they are about."""
    return BareStatement(_CHANGE, (topic_id, _EVENT))


def read_state_of(user_id: int) -> BareStatement:
    """The rows that most of an initial state is made of."""
    return BareStatement(_STATE, (user_id,))
