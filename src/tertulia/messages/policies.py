"""What a message changes about its topic for those it concerns: the sender's policy, and that of the mentioned.

The sending statement says who wishes what, by their settings; only then is anything done here, in the same transaction.
"""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Connection, Transaction
from tertulia.messages.model import Outgoing
from tertulia.topics.actions import set_policies
from tertulia.topics.model import Policy, Topic
from tertulia.topics.queries import lock_deciders


async def decide_policies(
    connection: Connection,
    batch: Sequence[Outgoing],
    rows: Sequence[asyncpg.Record],
    shards: int,
) -> dict[int, int]:
    """Set the policies that the messages of a batch call for; the senders' new ones by the place in the batch."""
    answers = {row["ord"]: row["wish"] for row in rows if row["wish"] is not None}
    concerned = [row for row in rows if row["topic_id"] is not None and (row["wish"] is not None or row["followers"])]
    if not concerned:
        return answers
    tx = Transaction(connection, shards)
    senders = [batch[row["ord"] - 1].sender_id for row in concerned if row["wish"] is not None]
    await lock_deciders(tx, sorted({*senders, *(one for row in concerned for one in row["followers"] or ())}))
    for row in concerned:
        out = batch[row["ord"] - 1]
        topic = Topic(row["topic_id"], out.conversation_id, row["topic_name"])
        followers = dict.fromkeys(row["followers"] or (), Policy.FOLLOWED)
        keep = (Policy.MUTED, Policy.FOLLOWED)
        decided = await set_policies(tx, out.realm_id, out.settings, topic, followers, keep=keep)
        if row["wish"] is None:
            continue
        wish = Policy(row["wish"])
        own = await set_policies(tx, out.realm_id, out.settings, topic, {out.sender_id: wish}, keep=(Policy.FOLLOWED,))
        # Whoever mentions themselves in their first message follows by that already.
        if not own and not any(one.user_id == out.sender_id for one in decided):
            del answers[row["ord"]]
    await tx.flush()
    return answers
