"""SQL of custom emoji: one statement per function."""

from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.custom_emoji.model import CustomEmoji, EmojiRecord, KeptPicture, picture_url, still_name

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


async def all_emoji(reader: Reader, realm_id: int) -> dict[str, EmojiRecord]:
    """A realm's custom emoji by their numbers, deactivated ones too."""
    sql = """
    select id, name, file_name, moves, is_deactivated, author_id
    from custom_emoji where realm_id = $1 order by id
    """
    return {
        str(row["id"]): EmojiRecord(
            id=str(row["id"]),
            name=row["name"],
            source_url=picture_url(realm_id, row["file_name"]),
            still_url=picture_url(realm_id, still_name(row["file_name"])) if row["moves"] else None,
            deactivated=row["is_deactivated"],
            author_id=row["author_id"],
        )
        for row in await reader.fetch(sql, realm_id)
    }


async def insert_emoji(tx: Transaction, realm_id: int, author_id: int, name: str, picture: KeptPicture) -> int | None:
    """Insert an emoji; returns its id, None if there is an active one of this name."""
    sql = """
    insert into custom_emoji (realm_id, author_id, name, file_name, moves) values ($1, $2, $3, $4, $5)
    on conflict (realm_id, name) where not is_deactivated do nothing returning id
    """
    found: int | None = await tx.fetchval(sql, realm_id, author_id, name, picture.file_name, picture.moves)
    return found


async def deactivate_emoji(tx: Transaction, realm_id: int, emoji_id: int) -> None:
    """It can no longer be chosen."""
    sql = "update custom_emoji set is_deactivated = true where realm_id = $1 and id = $2"
    await tx.execute(sql, realm_id, emoji_id)


async def lock_active(tx: Transaction, realm_id: int, name: str) -> tuple[int, int | None] | None:
    """The emoji of that name that can be chosen, and who made it; held until the commit."""
    sql = """
    select id, author_id from custom_emoji where realm_id = $1 and name = $2 and not is_deactivated for update
    """
    row = await tx.fetchrow(sql, realm_id, name)
    return (row["id"], row["author_id"]) if row else None


async def has_picture(reader: Reader, realm_id: int, file_name: str) -> bool:
    """Whether a file is the picture of an emoji, or the first frame of one."""
    sql = """
    select exists (
        select from custom_emoji where realm_id = $1 and (file_name = $2 or (file_name = $3 and moves))
    )
    """
    return bool(await reader.fetchval(sql, realm_id, file_name, f"{file_name.removesuffix('-still.png')}.webp"))
