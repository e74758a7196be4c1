"""The tables that narrows ask, as SQLAlchemy knows them: names and types for composing statements, nothing else."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, INT8MULTIRANGE, TSVECTOR

_NUMBER = sa.BigInteger()
NUMBERS = ARRAY(_NUMBER)

message = sa.table(
    "message",
    sa.column("id", _NUMBER),
    sa.column("conversation_id", _NUMBER),
    sa.column("seq", _NUMBER),
    sa.column("topic_id", _NUMBER),
    sa.column("sender_id", _NUMBER),
    sa.column("sent_at", sa.DateTime(timezone=True)),
    sa.column("content", sa.Text()),
    sa.column("has_link", sa.Boolean()),
    sa.column("has_image", sa.Boolean()),
    sa.column("has_attachment", sa.Boolean()),
    sa.column("search", TSVECTOR()),
    sa.column("is_unspaced", sa.Boolean()),
)
topic = sa.table(
    "topic",
    sa.column("id", _NUMBER),
    sa.column("conversation_id", _NUMBER),
    sa.column("name", sa.Text()),
    sa.column("name_key", sa.Text()),
    sa.column("search", TSVECTOR()),
)
channel = sa.table(
    "channel",
    sa.column("id", _NUMBER),
    sa.column("realm_id", _NUMBER),
    sa.column("invite_only", sa.Boolean()),
    sa.column("is_web_public", sa.Boolean()),
    sa.column("is_archived", sa.Boolean()),
    sa.column("history_public_to_subscribers", sa.Boolean()),
)
conversation = sa.table(
    "conversation", sa.column("id", _NUMBER), sa.column("realm_id", _NUMBER), sa.column("last_seq", _NUMBER)
)
account = sa.table("account", sa.column("id", _NUMBER), sa.column("role", sa.SmallInteger()))
subscription = sa.table(
    "subscription",
    sa.column("user_id", _NUMBER),
    sa.column("channel_id", _NUMBER),
    sa.column("is_muted", sa.Boolean()),
)
read_state = sa.table(
    "read_state",
    sa.column("conversation_id", _NUMBER),
    sa.column("user_id", _NUMBER),
    sa.column("read", INT8MULTIRANGE()),
    sa.column("history", INT8MULTIRANGE()),
)
message_mark = sa.table(
    "message_mark",
    sa.column("user_id", _NUMBER),
    sa.column("flag", sa.SmallInteger()),
    sa.column("message_id", _NUMBER),
)
group_mention = sa.table("message_group_mention", sa.column("message_id", _NUMBER), sa.column("group_id", _NUMBER))
topic_policy = sa.table(
    "topic_policy",
    sa.column("user_id", _NUMBER),
    sa.column("topic_id", _NUMBER),
    sa.column("policy", sa.SmallInteger()),
)
reaction = sa.table("reaction", sa.column("message_id", _NUMBER))


def number(name: str) -> "sa.BindParameter[int]":
    """A parameter that is a number."""
    return sa.bindparam(name, type_=_NUMBER)


def numbers(name: str) -> "sa.BindParameter[Any]":
    """A parameter that is a list of numbers."""
    return sa.bindparam(name, type_=NUMBERS)


def text(name: str) -> "sa.BindParameter[str]":
    """A parameter that is a text."""
    return sa.bindparam(name, type_=sa.Text())


def constant(value: int) -> "sa.ColumnElement[int]":
    """A number of ours that is part of the statement."""
    return sa.literal_column(str(value), _NUMBER)
