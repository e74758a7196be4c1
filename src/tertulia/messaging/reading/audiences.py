"""Who hears of what happens to one message: whoever may read it and listens to its conversation."""

from tertulia.events.log.record import Audience
from tertulia.kernel.db import Reader
from tertulia.messaging.reading.access import Reached

# With protected history only those who received the message know of it.
_CHANNEL = """
select invite_only, case when not history_public_to_subscribers then array(
    select read_state.user_id from read_state join subscription
        on subscription.user_id = read_state.user_id and subscription.channel_id = read_state.conversation_id
    where read_state.conversation_id = $1 and subscription.is_active and $2::bigint <@ history
) end as receivers
from channel where id = $1
"""


async def audience_of(reader: Reader, message: Reached) -> Audience:
    """Who hears of a change to a message."""
    if message.participants is not None:
        return Audience(users=tuple(message.participants))
    row = await reader.fetchrow(_CHANNEL, message.conversation_id, message.seq)
    assert row is not None
    if row["receivers"] is not None:
        return Audience(users=tuple(row["receivers"]))
    return Audience(channel=message.conversation_id, public=not row["invite_only"])
