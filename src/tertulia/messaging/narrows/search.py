"""Full-text search: what was typed into the search box, as a condition on messages.

Words are stemmed and must all be there, in the topic or in the text; a word may be only begun (beginnings.py). A "quoted
phrase" must also be there as it was written, in one of the two. Scripts without spaces between words are searched by
substrings. The stemming is PostgreSQL's: the configuration that the index was made with is `search_language()` in the
database (first_release/conversations.sql).
"""

import re
from collections.abc import Hashable, Mapping, Sequence

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSQUERY

from tertulia.messaging.narrows.beginnings import Beginning, beginnings_of
from tertulia.messaging.narrows.conditions import OfMessage
from tertulia.messaging.narrows.scopes import Test
from tertulia.messaging.narrows.tables import message, text, topic

MAX_TYPED = 10_000
"""Characters that are read at all: as many as a message has."""
MAX_WORDS = 32
MAX_RUNS = 8
_PARTS = re.compile(r'"([^"]*)"?|([^\s"]+)')
# Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer: one run of letters may hold many words. The migration has the same
# ranges in the condition of its index.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff"
UNSPACED += "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_UNSPACED = re.compile(f"[{UNSPACED}]")
_RUNS = re.compile(f"[{UNSPACED}]+")


class Query(msgspec.Struct, frozen=True):
    """What is searched for."""

    words: tuple[str, ...] = ()
    """Each is stemmed; all must match."""
    phrases: tuple[str, ...] = ()
    """Each must be there as written, whatever the case."""
    runs: tuple[str, ...] = ()
    """The same, for parts of words in scripts without spaces; each may be in the topic or in the text."""
    beginnings: tuple[Beginning, ...] = ()
    """Those of the words that may also be only begun."""

    @property
    def stemmed_phrases(self) -> tuple[str, ...]:
        """The phrases whose words are known by their stems."""
        return tuple(phrase for phrase in self.phrases if not _UNSPACED.search(phrase))

    @property
    def is_stemmed(self) -> bool:
        """Whether the index of words can find it."""
        return bool(self.words or self.stemmed_phrases)

    @property
    def pieces(self) -> tuple[str, ...]:
        """What has to be there as written."""
        return (*self.phrases, *self.runs)


def parse_query(typed: str) -> Query:
    """Read what somebody typed. The number of words is limited, so that a query costs only so much."""
    words: list[str] = []
    phrases: list[str] = []
    runs: list[str] = []
    for quoted, single in _PARTS.findall(typed[:MAX_TYPED]):
        if any(map(str.isalnum, quoted)):
            phrases.append(quoted.strip())
        runs += _RUNS.findall(single)
        words += [part for part in _UNSPACED.sub(" ", single).split() if any(map(str.isalnum, part))]
    asked = tuple(dict.fromkeys(words))[:MAX_WORDS]
    return Query(
        asked,
        tuple(dict.fromkeys(phrases))[:MAX_RUNS],
        tuple(dict.fromkeys(runs))[:MAX_RUNS],
        beginnings_of(asked),
    )


class Matches(OfMessage, frozen=True, kw_only=True):
    """The message, with its topic, matches a search."""

    query: Query
    is_rare: bool = False
    """Few messages hold these words: the index finds them faster than a walk along the messages does."""

    @property
    def wants_index(self) -> bool:
        """Whether an index leads to the messages; a walk along all messages is quicker for words that many of them hold."""
        return bool(self.query.pieces) if not self.query.is_stemmed else self.is_rare

    @property
    def shape(self) -> Hashable:
        return type(self), self.is_rare, self.query.is_stemmed, len(self.query.pieces)

    def values(self) -> Mapping[str, object]:
        pieces = {f"piece{number}": like(piece) for number, piece in enumerate(self.query.pieces)}
        return pieces | words_asked(self.query)

    def test(self, at: str) -> Test:
        tests: list[Test] = []
        if self.query.is_stemmed:
            tests.append(sa.or_(_holds(message.c.search, every_word(at)), self._with_topic(at)))
        tests += [self._holds_piece(f"{at}piece{number}") for number in range(len(self.query.pieces))]
        return sa.and_(*tests) if tests else sa.false()

    def in_text(self, at: str) -> Test:
        """On the message alone: what an index on messages finds. What the topic adds is not in it."""
        if self.query.is_stemmed:
            return _holds(message.c.search, every_word(at))
        pieces = [message.c.content.ilike(text(f"{at}piece{number}")) for number in range(len(self.query.pieces))]
        return sa.and_(*pieces, message.c.is_unspaced)

    def in_topic(self, at: str) -> Test:
        """On the topic alone: one of the words, or pieces, is in it."""
        if self.query.is_stemmed:
            return _holds(topic.c.search, any_word(at))
        return sa.or_(*(topic.c.name.ilike(text(f"{at}piece{number}")) for number in range(len(self.query.pieces))))

    def _with_topic(self, at: str) -> Test:
        both = sa.func.coalesce(topic.c.search.op("||")(message.c.search), topic.c.search)
        found = sa.select(sa.and_(_holds(topic.c.search, any_word(at)), _holds(both, every_word(at))))
        return sa.func.coalesce(
            found.where(topic.c.id == message.c.topic_id).correlate(message).scalar_subquery(), sa.false()
        )

    def _holds_piece(self, name: str) -> Test:
        named = sa.select(topic.c.name.ilike(text(name))).where(topic.c.id == message.c.topic_id).correlate(message)
        return sa.or_(message.c.content.ilike(text(name)), sa.func.coalesce(named.scalar_subquery(), sa.false()))


def every_word(at: str) -> sa.ColumnElement[str]:
    """The query for texts that hold all the words. Of stop words alone nothing is left, and nothing matches."""
    return _words(at, every=True)


def any_word(at: str) -> sa.ColumnElement[str]:
    """The query for texts that hold one of the words."""
    return _words(at, every=False)


# Of stop words nothing is left, whatever they might begin: most words of a language begin with one.
WORDS = """
select string_agg(query, case when {every} then ' & ' else ' | ' end)::tsquery as query from (
    select '(' || plain::text || also || ')' as query
    from unnest({words}, {also}) as asked(word, also), plainto_tsquery(search_language(), word) as plain
    where numnode(plain) > 0
    union all
    select '(' || phrase::text || ')' from unnest({phrases}) as quoted, phraseto_tsquery(search_language(), quoted) as phrase
    where numnode(phrase) > 0
) as made
"""


def words_asked(query: Query) -> dict[str, list[str]]:
    """The parameters of `WORDS`."""
    also = {beginning.typed: beginning.alternatives for beginning in query.beginnings}
    return {
        "words": list(query.words),
        "also": [also.get(word, "") for word in query.words],
        "phrases": list(query.stemmed_phrases),
    }


def _words(at: str, *, every: bool) -> sa.ColumnElement[str]:
    names = ("words", "also", "phrases")
    typed = [sa.bindparam(f"{at}{name}", type_=sa.ARRAY(sa.Text())) for name in names]
    asked = WORDS.format(every=every, **{name: f":{at}{name}" for name in names})
    # As a query of its own it is made once per statement, and not for each row.
    return sa.text(asked).bindparams(*typed).columns(sa.column("query", TSQUERY())).scalar_subquery()


def like(piece: str) -> str:
    """A pattern for texts that hold this one."""
    escaped = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def join_queries(typed: Sequence[str]) -> Query:
    """Several search terms are one query."""
    return parse_query(" ".join(typed))


def _holds(vector: sa.ColumnElement[str], query: sa.ColumnElement[str]) -> Test:
    return vector.op("@@", is_comparison=True)(query)
