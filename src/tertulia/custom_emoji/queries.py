"""SQL of custom emoji: one statement per function."""

from tertulia.custom_emoji.model import CustomEmoji
from tertulia.kernel.db import Reader

_COLUMNS = "id, name, is_deactivated"


async def find_active(reader: Reader, realm_id: int, name: str) -> CustomEmoji | None:
    """The emoji of that name that can be chosen."""
    sql = f"select {_COLUMNS} from custom_emoji where realm_id = $1 and name = $2 and not is_deactivated"
    row = await reader.fetchrow(sql, realm_id, name)
    return CustomEmoji(**row) if row else None


async def find_emoji(reader: Reader, realm_id: int, emoji_id: int) -> CustomEmoji | None:
    """The emoji with that number, deactivated ones too."""
    sql = f"select {_COLUMNS} from custom_emoji where realm_id = $1 and id = $2"
    row = await reader.fetchrow(sql, realm_id, emoji_id)
    return CustomEmoji(**row) if row else None
