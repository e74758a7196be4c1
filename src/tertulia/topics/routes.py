"""Endpoints of topics: what the caller decides about them."""

from typing import Annotated, Literal

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import patch, post
from tertulia.kernel.errors import Refusal
from tertulia.realms.limits import MAX_TOPIC_LENGTH
from tertulia.realms.settings import decode_settings
from tertulia.topics import actions
from tertulia.topics.model import Policy
from tertulia.topics.rules import clean_decided_topic

TopicText = Annotated[str, msgspec.Meta(max_length=MAX_TOPIC_LENGTH)]


@post("/user_topics")
async def set_topic_policy(
    caller: Person, tx: Transaction, *, stream_id: int, topic: TopicText, visibility_policy: Literal[0, 1, 2, 3]
) -> None:
    """Mute (1), unmute (2) or follow (3) a topic for yourself, or forget what you decided (0)."""
    name = clean_decided_topic(topic, decode_settings(caller.realm_settings))
    await actions.set_policy(tx, caller, stream_id, name, Policy(visibility_policy))


@patch("/users/me/subscriptions/muted_topics")
async def set_muted_topic(
    caller: Person,
    tx: Transaction,
    *,
    stream_id: int | None = None,
    stream: str | None = None,
    topic: TopicText,
    op: Literal["add", "remove"],
) -> None:
    """Mute a topic, or take the mute back. Deprecated: `POST /user_topics` says more."""
    if stream_id is not None and stream is not None:
        raise Refusal("Unsupported parameter combination: stream_id, stream")
    named = stream if stream_id is None else stream_id
    if named is None:
        raise Refusal("Missing 'stream_id' argument: which channel?")
    name = clean_decided_topic(topic, decode_settings(caller.realm_settings))
    if op == "add":
        await actions.set_policy(tx, caller, named, name, Policy.MUTED)
        return
    try:
        await actions.clear_policy(tx, caller, named, name)
    except Refusal as unknown:
        raise Refusal("Topic is not muted") from unknown
