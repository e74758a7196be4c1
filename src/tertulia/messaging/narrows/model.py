"""A narrow whose names are resolved."""

import msgspec

from tertulia.messaging.narrows.conditions import Condition
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.search import Matches, Query


class Narrowed(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages are wanted, of those the reader may see."""

    user_id: int
    realm_id: int
    scope: Scope = Scope.RECEIVED
    conditions: tuple[Condition, ...] = ()
    conversation_id: int | None = None
    """The one conversation that all of them are in; the reader may read it."""
    sees_all: bool = False
    """In that conversation the whole history is considered, else what the scope says of it."""
    is_in_channel: bool = False
    """A channel is named: its own muting does not count there."""
    is_empty: bool = False
    """No message can be in it."""
    query: Query | None = None
    """What is searched for."""

    @property
    def has_beginnings(self) -> bool:
        """Whether words are searched for that may be only begun."""
        return self.query is not None and bool(self.query.beginnings)

    def with_whole_words(self) -> "Narrowed":
        """The same, where a word that was only begun finds nothing."""
        if self.query is None:
            return self
        query = msgspec.structs.replace(self.query, beginnings=())
        conditions = tuple(
            msgspec.structs.replace(one, query=query) if isinstance(one, Matches) else one for one in self.conditions
        )
        return msgspec.structs.replace(self, query=query, conditions=conditions)
