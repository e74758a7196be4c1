"""SQL of the alerts feature: one statement per function."""

from collections.abc import Iterable, Mapping, Sequence

from tertulia.content.markup import alert_key, alert_keys
from tertulia.kernel.db import Reader, Transaction
from tertulia.people.users.handover import Handed

SHORT_TEXT = 200
"""Characters. PostgreSQL takes some 40 us at worst to look for a word in so many, and by the square of it in more."""


async def words_of(reader: Reader, user_id: int) -> list[str]:
    """Somebody's words in alphabetical order."""
    sql = 'select word from alert_word where user_id = $1 order by word_key collate "C"'
    return [row["word"] for row in await reader.fetch(sql, user_id)]


async def insert_words(tx: Transaction, realm_id: int, user_id: int, words: Mapping[str, str]) -> int:
    """Add words by their keys; returns how many of them are new."""
    sql = """
    insert into alert_word (realm_id, user_id, word_key, word, first_word)
    select $1, $2, word_key, word, first_word
    from unnest($3::text[], $4::text[], $5::text[]) as given(word_key, word, first_word)
    on conflict do nothing returning 1
    """
    firsts = [alert_key(key) for key in words]
    return len(await tx.fetch(sql, realm_id, user_id, list(words), list(words.values()), firsts))


async def delete_words(tx: Transaction, user_id: int, keys: Iterable[str]) -> int:
    """Remove words by their keys; returns how many of them there were."""
    sql = "delete from alert_word where user_id = $1 and word_key = any($2::text[]) returning 1"
    return len(await tx.fetch(sql, user_id, list(keys)))


async def words_within(reader: Reader, asked: Sequence[tuple[int, str]]) -> list[list[str]]:
    """For each realm and text in small letters: keys of the realm's alert words that may be in it, and all that are.

    The index leads to those that begin with a word of the text. Many may begin alike, so in a short text the database looks
    further, also inside of words. In a long one it would take seconds for words made to be found late, and others wait.
    """
    sql = f"""
    select distinct asked.place, word_key
    from unnest($1::int[], $2::bigint[], $3::text[]) as asked(place, realm_id, piece)
    join unnest($4::text[]) with ordinality as said(content, place) on said.place = asked.place
    join alert_word on alert_word.realm_id = asked.realm_id and first_word = asked.piece
    where length(said.content) > {SHORT_TEXT} or strpos(said.content, word_key) > 0
    """
    texts = [text for _, text in asked]
    rows = [(place, realm_id, key) for place, (realm_id, text) in enumerate(asked, 1) for key in alert_keys(text)]
    found: list[list[str]] = [[] for _ in asked]
    if not rows:
        return found
    for row in await reader.fetch(sql, *zip(*rows, strict=True), texts):
        found[row["place"] - 1].append(row["word_key"])
    return found


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner has no alert words any more."""
    await tx.execute("delete from alert_word where user_id = $1", handed.bot_id)
