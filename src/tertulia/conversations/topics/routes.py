"""Endpoints of topics: what the caller decides about them."""

from typing import Literal

from tertulia.conversations.channels.rules import ChannelId
from tertulia.conversations.read_state.marks import TopicPolicy, TopicPolicyNumber
from tertulia.conversations.topics import actions
from tertulia.conversations.topics.rules import clean_topic
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import patch, post
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.settings import settings_of


@post("/user_topics")
async def set_topic_policy(
    caller: Person, tx: Transaction, *, stream_id: ChannelId, topic: str, visibility_policy: TopicPolicyNumber
) -> None:
    """Mute (1), unmute (2) or follow (3) a topic for yourself, or reset your choice (0)."""
    name = clean_topic(topic, settings_of(caller))
    await actions.set_policy(tx, caller, stream_id, name, TopicPolicy(visibility_policy))


@patch("/users/me/subscriptions/muted_topics")
async def set_muted_topic(
    caller: Person,
    tx: Transaction,
    *,
    stream_id: ChannelId | None = None,
    stream: str | None = None,
    topic: str,
    op: Literal["add", "remove"],
) -> None:
    """Mute a topic, or take the mute back. Deprecated: use `POST /user_topics`."""
    if stream_id is not None and stream is not None:
        raise Refusal("Unsupported parameter combination: stream_id, stream")
    named = stream if stream_id is None else stream_id
    if named is None:
        raise Refusal("Missing 'stream_id' argument: which channel?")
    name = clean_topic(topic, settings_of(caller))
    await actions.set_policy(tx, caller, named, name, TopicPolicy.MUTED if op == "add" else TopicPolicy.NONE)
