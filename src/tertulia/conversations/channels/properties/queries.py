"""SQL of the properties of subscriptions: one statement per function."""

from collections.abc import Sequence

from tertulia.conversations.channels.model import Personal
from tertulia.kernel.db import Transaction

_COLUMNS = {
    "color": "text",
    "is_muted": "boolean",
    "pin_to_top": "boolean",
    "desktop_notifications": "boolean",
    "audible_notifications": "boolean",
    "push_notifications": "boolean",
    "email_notifications": "boolean",
    "wildcard_mentions_notify": "boolean",
}

_LOCK = f"""
select channel_id, {", ".join(f"subscription.{column}" for column in _COLUMNS)}
from subscription join channel on channel.id = channel_id
where user_id = $1 and channel_id = any($2::bigint[]) and subscription.is_active and not channel.is_archived
order by channel_id for no key update of subscription
"""

_WRITE = f"""
update subscription set {", ".join(f"{column} = wanted.{column}" for column in _COLUMNS)}
from unnest($2::bigint[], {", ".join(f"${place}::{kind}[]" for place, kind in enumerate(_COLUMNS.values(), 3))})
    as wanted(channel_id, {", ".join(_COLUMNS)})
where subscription.user_id = $1 and subscription.channel_id = wanted.channel_id
"""


async def lock_personal(tx: Transaction, user_id: int, channel_ids: Sequence[int]) -> dict[int, Personal]:
    """Hold the user's active subscriptions to channels that are not archived."""
    rows = await tx.fetch(_LOCK, user_id, channel_ids)
    return {row["channel_id"]: Personal(**row) for row in rows}


async def write_personal(tx: Transaction, user_id: int, rows: Sequence[Personal]) -> None:
    """Write what the user set, all channels in one statement."""
    columns = [[getattr(row, column) for row in rows] for column in ("channel_id", *_COLUMNS)]
    await tx.execute(_WRITE, user_id, *columns)
