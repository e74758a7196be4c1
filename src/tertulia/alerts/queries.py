"""SQL of the alerts feature: one statement per function."""

from collections.abc import Iterable, Mapping, Sequence

from tertulia.kernel.db import Reader, Transaction
from tertulia.markup import alert_key


async def words_of(reader: Reader, user_id: int) -> list[str]:
    """Somebody's words in alphabetical order."""
    sql = 'select word from alert_word where user_id = $1 order by word_key collate "C"'
    return [row["word"] for row in await reader.fetch(sql, user_id)]


async def insert_words(tx: Transaction, realm_id: int, user_id: int, words: Mapping[str, str]) -> int:
    """Add words by their keys; how many of them are new."""
    sql = """
    insert into alert_word (realm_id, user_id, word_key, word, first_word)
    select $1, $2, word_key, word, first_word
    from unnest($3::text[], $4::text[], $5::text[]) as given(word_key, word, first_word)
    on conflict do nothing returning 1
    """
    firsts = [alert_key(key) for key in words]
    return len(await tx.fetch(sql, realm_id, user_id, list(words), list(words.values()), firsts))


async def delete_words(tx: Transaction, user_id: int, keys: Iterable[str]) -> int:
    """Remove words by their keys; how many of them there were."""
    sql = "delete from alert_word where user_id = $1 and word_key = any($2::text[]) returning 1"
    return len(await tx.fetch(sql, user_id, list(keys)))


async def words_starting(reader: Reader, asked: Sequence[tuple[int, Iterable[str]]]) -> list[list[str]]:
    """For each realm and pieces of a text: the keys of the realm's alert words that begin with one of the pieces."""
    sql = """
    select distinct asked.place, word_key
    from unnest($1::int[], $2::bigint[], $3::text[]) as asked(place, realm_id, piece)
    join alert_word on alert_word.realm_id = asked.realm_id and first_word = asked.piece
    """
    rows = [(place, realm_id, piece) for place, (realm_id, pieces) in enumerate(asked) for piece in pieces]
    found: list[list[str]] = [[] for _ in asked]
    for row in await reader.fetch(sql, *zip(*rows, strict=True)):
        found[row["place"]].append(row["word_key"])
    return found
