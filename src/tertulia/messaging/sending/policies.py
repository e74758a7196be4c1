"""What a message changes about its topic for those it concerns: the sender's policy, and that of the mentioned.

The sending statement says whose settings ask for a change; only then is anything done here, in the same transaction.
"""

from collections.abc import Sequence

import asyncpg

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.topics.actions import set_policies
from tertulia.conversations.topics.model import Topic
from tertulia.conversations.topics.queries import lock_deciders
from tertulia.kernel.db import Transaction
from tertulia.messaging.sending.model import Outgoing
from tertulia.organization.realms.settings import settings_of


async def decide_policies(tx: Transaction, batch: Sequence[Outgoing], rows: Sequence[asyncpg.Record]) -> dict[int, int]:
    """Set the policies that the messages of a batch call for; returns the senders' new ones by the number in the batch."""
    answers = {row["ord"]: row["new_policy"] for row in rows if row["new_policy"] is not None}
    concerned = [
        (row, message)
        for row in rows
        if row["topic_id"] is not None
        and (row["new_policy"] is not None or row["followers"])
        and not (message := batch[row["ord"] - 1]).is_notice
    ]
    if not concerned:
        return answers
    senders = [message.sender.user_id for row, message in concerned if row["new_policy"] is not None]
    await lock_deciders(tx, sorted({*senders, *(one for row, _ in concerned for one in row["followers"] or ())}))
    for row, message in concerned:
        if not await _decide(tx, message, row):
            answers.pop(row["ord"], None)
    return answers


async def _decide(tx: Transaction, message: Outgoing, row: asyncpg.Record) -> bool:
    """Set what one message calls for; returns whether it gave its sender another policy."""
    sender, settings = message.sender, settings_of(message.sender)
    topic = Topic(row["topic_id"], message.conversation_id, row["topic_name"])
    followers = dict.fromkeys(row["followers"] or (), TopicPolicy.FOLLOWED)
    keep = (TopicPolicy.MUTED, TopicPolicy.FOLLOWED)
    decided = await set_policies(tx, sender.realm_id, settings, topic, followers, keep=keep)
    if row["new_policy"] is None:
        return False
    chosen = {sender.user_id: TopicPolicy(row["new_policy"])}
    own = await set_policies(tx, sender.realm_id, settings, topic, chosen, keep=(TopicPolicy.FOLLOWED,))
    # Whoever mentions themselves in their first message follows by that already.
    return bool(own) or any(one.user_id == sender.user_id for one in decided)
