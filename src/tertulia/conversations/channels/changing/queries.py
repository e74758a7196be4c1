"""SQL of changing channels: one statement per function."""

from collections.abc import Mapping

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.groups.settings import CHANNEL_SETTINGS

COLUMNS = {
    "name",
    "name_key",
    "description",
    "rendered_description",
    "invite_only",
    "is_web_public",
    "history_public_to_subscribers",
    "is_archived",
    "message_retention_days",
    "topics_policy",
    "folder_id",
    *CHANNEL_SETTINGS,
}


async def lock_channel(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Hold the channel's conversation alone: nobody sends, joins, leaves or changes the channel until the commit."""
    sql = "select from conversation where realm_id = $1 and id = $2 for no key update"
    await tx.execute(sql, realm_id, channel_id)


async def lock_name(tx: Transaction, channel_id: int) -> None:
    """Hold the channel's own row as a change of its unique name does: whoever makes a topic in it waits from now on."""
    await tx.execute("select from channel where id = $1 for update", channel_id)


async def update_channel(tx: Transaction, channel_id: int, values: Mapping[str, object]) -> None:
    """Write columns; raises UniqueViolationError if a name is taken."""
    assert values.keys() <= COLUMNS
    wanted = ", ".join(f"{column} = ${place}" for place, column in enumerate(values, 2))
    await tx.execute(f"update channel set {wanted} where id = $1", channel_id, *values.values())


async def has_named_topics(tx: Transaction, channel_id: int) -> bool:
    """Whether a message of the channel is in another topic than the empty one."""
    sql = """
    select exists (
        select from topic where conversation_id = $1 and name_key <> ''
            and exists (select from message where message.topic_id = topic.id)
    )
    """
    return bool(await tx.fetchval(sql, channel_id))


async def is_default(tx: Transaction, channel_id: int) -> bool:
    """Whether newcomers are subscribed to the channel."""
    return bool(await tx.fetchval("select exists (select from default_channel where channel_id = $1)", channel_id))


async def listeners_inside(reader: Reader, channel_id: int) -> list[int]:
    """Those who hear of a channel because they are subscribed: of a private one all, of a public one guests."""
    sql = f"""
    select user_id from subscription join account on account.id = user_id join channel on channel.id = channel_id
    where channel_id = $1 and subscription.is_active and account.is_active and (invite_only or role = {Role.GUEST})
    order by user_id
    """
    return [row["user_id"] for row in await reader.fetch(sql, channel_id)]
