"""What a caller may do to a message: all rights in one statement, which runs under the locks of the change."""

from tertulia.conversations.channels.rights import IS_ADMINISTRATOR, granted, granted_by_realm
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.messaging.editing.model import Rights
from tertulia.messaging.reading.access import no_such_message

_ADMINISTERS = f"({IS_ADMINISTRATOR} or coalesce({granted('can_administer_channel_group')}, false))"


def _either(realm_setting: str, channel_setting: str) -> str:
    return f"({granted_by_realm(realm_setting)} or coalesce({granted(channel_setting)}, false))"


_MOVE_WITHIN = _either("can_move_messages_between_topics_group", "can_move_messages_within_channel_group")
_MOVE_OUT = _either("can_move_messages_between_channels_group", "can_move_messages_out_of_channel_group")

_RIGHTS = f"""
select account.role, clock_timestamp() as now, coalesce(sender.bot_owner_id = account.id, false) as is_own_bot,
    {_ADMINISTERS} or {_MOVE_WITHIN} as may_move_within,
    {_ADMINISTERS} or {_MOVE_OUT} as may_move_out,
    {_either("can_resolve_topics_group", "can_resolve_topics_group")} as may_resolve,
    {_either("can_delete_any_message_group", "can_delete_any_message_group")} as may_delete_any,
    {_either("can_delete_own_message_group", "can_delete_own_message_group")} as may_delete_own
from account join account as sender on sender.id = $2
left join channel on channel.id = $3 where account.id = $1 and account.is_active
"""


async def rights_over(reader: Reader, caller: Caller, sender_id: int, conversation_id: int) -> Rights:
    """What the caller may do to a message of this sender in this conversation."""
    row = await reader.fetchrow(_RIGHTS, caller.user_id, sender_id, conversation_id)
    if row is None:
        raise no_such_message()
    return Rights(**row)
