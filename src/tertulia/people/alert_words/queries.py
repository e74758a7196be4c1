"""SQL of the alerts feature: one statement per function."""

from collections.abc import Iterable, Mapping, Sequence

from tertulia.content.markup import alert_key, alert_keys
from tertulia.kernel.db import Reader, Transaction
from tertulia.people.users.handover import Handed

SHORT_TEXT = 200
"""Characters. PostgreSQL takes some 40 us at worst to look for a word in so many, and by the square of it in more."""
MOST_WORDS = 10_000
"""Different ones of an organization, that are looked at for one text: 50 to 90 ms. Everybody's senders wait for that."""


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


def _next_word(after: str) -> str:
    """From one word to the next in the index: thousands of people may have the same one."""
    return f"""
    (select alert_word.word_key from alert_word where alert_word.realm_id = said.realm_id and first_word = piece {after}
    order by alert_word.word_key limit 1)
    """


async def words_within(reader: Reader, asked: Sequence[tuple[int, str]]) -> list[list[str]]:
    """For each realm and text in small letters: keys of the realm's alert words that may be in it, and all that are.

    The index leads to those that begin with a word of the text. Many may begin alike, so in a short text the database looks
    further, also inside of words. In a long one it would take seconds for words made to be found late, and others wait. So they
    do for very many different words that begin with those of one text: more than so many are not looked at.
    """
    sql = f"""
    select place, word_key
    from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality as said(realm_id, content, keys, place)
    cross join lateral (
        select word_key from unnest(string_to_array(said.keys, E'\\n')) as piece cross join lateral (
            with recursive alike(word_key) as (
                {_next_word("")}
                union all
                select ({_next_word("and alert_word.word_key > alike.word_key")}) from alike where word_key is not null
            ) select word_key from alike where word_key is not null
        ) as word limit {MOST_WORDS}
    ) as found where length(said.content) > {SHORT_TEXT} or strpos(said.content, word_key) > 0
    """
    realms, texts = [realm_id for realm_id, _ in asked], [text for _, text in asked]
    keys = ["\n".join(alert_keys(text)) for text in texts]  # in which no line ends
    found: list[list[str]] = [[] for _ in asked]
    if not any(keys):
        return found
    for row in await reader.fetch(sql, realms, texts, keys):
        found[row["place"] - 1].append(row["word_key"])
    return found


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner has no alert words any more."""
    await tx.execute("delete from alert_word where user_id = $1", handed.bot_id)
