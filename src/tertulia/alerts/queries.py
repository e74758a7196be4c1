"""SQL of the alerts feature: one statement per function."""

from collections.abc import Iterable, Mapping

from tertulia.kernel.db import Reader, Transaction


async def words_of(reader: Reader, user_id: int) -> list[str]:
    """Somebody's words in alphabetical order."""
    sql = 'select word from alert_word where user_id = $1 order by word_key collate "C"'
    return [row["word"] for row in await reader.fetch(sql, user_id)]


async def insert_words(tx: Transaction, user_id: int, words: Mapping[str, str]) -> int:
    """Add words by their keys; how many of them are new."""
    sql = """
    insert into alert_word (user_id, word_key, word)
    select $1, word_key, word from unnest($2::text[], $3::text[]) as given(word_key, word)
    on conflict do nothing returning 1
    """
    return len(await tx.fetch(sql, user_id, list(words), list(words.values())))


async def delete_words(tx: Transaction, user_id: int, keys: Iterable[str]) -> int:
    """Remove words by their keys; how many of them there were."""
    sql = "delete from alert_word where user_id = $1 and word_key = any($2::text[]) returning 1"
    return len(await tx.fetch(sql, user_id, list(keys)))
