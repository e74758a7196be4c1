"""SQL of messages that wait for the thumbnails of pictures: one statement per function."""

import msgspec

from tertulia.files.remote_pictures import queries as remote_pictures
from tertulia.files.uploads.model import Thumbnail
from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.link_previews import queries as link_previews
from tertulia.messaging.reading.queries import lock_conversation_of

LOOKED_AT = 500


def _settled(further: str, order: str) -> str:
    """Pictures that messages show as being made which are not any more, of the first so many that are shown so, from one end."""
    return f"""
    (
        with recursive awaited(id) as (
            (select attachment_id from attachment_link where is_waiting order by attachment_id {order} limit 1)
            union all select (
                select attachment_id from attachment_link where is_waiting and attachment_id {further} awaited.id
                order by attachment_id {order} limit 1
            ) from awaited where awaited.id is not null
        ) select awaited.id from (select id from awaited limit {LOOKED_AT}) as awaited
        join attachment on attachment.id = awaited.id where thumbnail <> {Thumbnail.WAITING}
    )
    """


SETTLED = f"({_settled('<', 'desc')} union all {_settled('>', 'asc')}) as settled_picture"
"""From one to the next in the index, because a few that are not made yet may be in very many messages; and not further than
LOOKED_AT from either end, because somebody may have tens of thousands that are not made yet: whoever looks for what is due looks
several times a second. Those in between are found without a look, within a minute."""
WAITING = f"""
(
    select now() as due from {SETTLED}
    union all select now() from {remote_pictures.SETTLED}
    union all select now() from {link_previews.SETTLED}
) as settled
"""
_HALF = f"""
select message_id from attachment_link join attachment on attachment.id = attachment_id where is_waiting
group by message_id having 2 * count(*) filter (where thumbnail <> {Thumbnail.WAITING}) >= count(*)
"""
"""Messages that half of what they wait for is there of: each is told to all its readers again, with all its pictures, so one
with a hundred is not shown a hundred times anew."""
_FOUND = f"""
{_HALF} union select message_id from {remote_pictures.SETTLED} union select message_id from {link_previews.SETTLED}
"""


class Waiting(msgspec.Struct, frozen=True):
    """A message, and what its channel is."""

    id: int
    conversation_id: int
    seq: int
    sender_id: int
    content: str
    rendered: str
    participants: list[int] | None
    channel: str | None
    is_public: bool
    is_history_public: bool
    now: int


async def find_waiting(reader: Reader, limit: int) -> list[int]:
    """Messages that show something as being made which is not any more: by turns of those who wrote them, with their bots, the
    newest first. Everybody's first comes before anybody's second, however many pictures somebody has in how many messages."""
    sql = f"""
    select message_id from (
        select message.id as message_id, row_number() over (
            partition by coalesce(bot_owner_id, sender_id) order by message.id desc) as turn
        from ({_FOUND}) as found join message on message.id = found.message_id join account on account.id = sender_id
    ) as queue order by turn, message_id desc limit $1
    """
    return [row["message_id"] for row in await reader.fetch(sql, limit)]


async def lock_waiting(tx: Transaction, message_id: int) -> Waiting | None:
    """Hold a message against everybody who changes it; None if it is gone, or has just been moved."""
    conversation_id = await lock_conversation_of(tx, message_id)
    sql = """
    select message.id, message.conversation_id, seq, sender_id, content, rendered, participants, channel.name as channel,
        coalesce(not invite_only, false) as is_public,
        coalesce(history_public_to_subscribers, false) as is_history_public, extract(epoch from now())::bigint as now
    from message join conversation on conversation.id = message.conversation_id
    left join channel on channel.id = message.conversation_id
    where message.id = $1 and message.conversation_id = $2 for no key update of message
    """
    row = await tx.fetchrow(sql, message_id, conversation_id)
    return Waiting(**row) if row else None


async def write_shown(tx: Transaction, message_id: int, html: str, *, has_image: bool) -> None:
    """The message shows what is ready of its pictures."""
    await tx.execute("update message set rendered = $2, has_image = $3 where id = $1", message_id, html, has_image)


async def write_renamed(tx: Transaction, message_id: int, content: str, html: str) -> None:
    """The message names somebody differently."""
    await tx.execute("update message set content = $2, rendered = $3 where id = $1", message_id, content, html)
