"""What a narrow means to one reader: names become ids, terms become conditions, and the scope follows from both."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import msgspec

from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.read_state.marks import Mark
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.messaging.narrows import queries
from tertulia.messaging.narrows.conditions import (
    Condition,
    Has,
    HasId,
    HasMark,
    InChannels,
    InConversations,
    InTopic,
    InTopicId,
    IsDirect,
    IsFollowed,
    IsHidden,
    IsMentioned,
    IsResolved,
    IsUnread,
    SentBy,
)
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.parsing_costs import may_be_dear
from tertulia.messaging.narrows.rules import ScopeOf, check_mixture, number_of, scope_of, topic_key_of
from tertulia.messaging.narrows.search import Matches, Query, join_queries
from tertulia.messaging.narrows.stems import complete
from tertulia.messaging.narrows.terms import Term, bad_narrow
from tertulia.organization.realms.settings import settings_of
from tertulia.people.users.access import get_user_id
from tertulia.people.users.addresses import id_of_fake_email
from tertulia.people.users.visibility.actions import hidden_from

MAX_PEOPLE = 250


class Located(Protocol):
    """Where a message is that the reader may see."""

    @property
    def conversation_id(self) -> int: ...
    @property
    def topic_id(self) -> int | None: ...
    @property
    def participants(self) -> Sequence[int] | None: ...


FindMessage = Callable[[int], Awaitable[Located | None]]


async def resolve(reader: Reader, caller: Caller, terms: Sequence[Term], find_message: FindMessage) -> Narrowed:
    """A narrow as conditions; a Refusal if it names what is not there or makes no sense."""
    return await _Resolver(reader, caller, find_message).resolve(terms)


class _Resolver:
    def __init__(self, reader: Reader, caller: Caller, find_message: FindMessage) -> None:
        self._reader = reader
        self._caller = caller
        self._find_message = find_message
        self._conditions: list[Condition] = []
        self._conversation: int | None = None
        self._size = 0
        self._channel: queries.ChannelNamed | None = None
        self._is_empty = False

    async def resolve(self, terms: Sequence[Term]) -> Narrowed:
        check_mixture(terms)
        terms = await self._follow_with(terms)
        for term in terms:
            if term.operator == "channel":
                await self._add_channel(term)
        for term in terms:
            if term.operator not in ("channel", "search"):
                await self._add(term)
        typed = [term.operand for term in terms if term.operator == "search"]
        if may_be_dear(" ".join(typed)):
            raise bad_narrow("too many signs with no blank between them in a search")
        query = join_queries(typed)
        if typed:
            query = await complete(self._reader, query)
            self._conditions.append(Matches(query=query, is_rare=await self._is_rare(query)))
        scope = scope_of(terms, is_guest=self._caller.is_guest, is_anonymous=not self._caller.user_id)
        return Narrowed(
            user_id=self._caller.user_id,
            realm_id=self._caller.realm_id,
            scope=scope.of_many,
            # Each once: a driver leaves out the one condition that it knows to hold.
            conditions=tuple(dict.fromkeys(self._conditions)),
            conversation_id=self._conversation,
            sees_all=self._sees_all(scope),
            is_in_channel=self._channel is not None,
            is_empty=self._is_empty,
            query=query if query != Query() else None,
        )

    def _sees_all(self, scope: ScopeOf) -> bool:
        """Whether all of the one conversation is the reader's. A bot loses older direct messages when it is handed over."""
        if self._channel is None:
            return not self._caller.is_bot
        return self._channel.is_history_public and not scope.is_personal

    # `with`: the conversation that a message is in now

    async def _follow_with(self, terms: Sequence[Term]) -> list[Term]:
        following = [term for term in terms if term.operator == "with"]
        rest = [term for term in terms if term.operator != "with"]
        if not following:
            return rest
        if len(following) > 1:
            raise bad_narrow("Duplicate 'with' operators.", "Invalid narrow operator combination")
        message_id = number_of(following[0].operand)
        if message_id is None:
            raise bad_narrow("Invalid 'with' operator")
        found = await self._find_message(message_id)
        if found is None:
            named = {term.operator for term in rest if not term.negated}
            if "dm" in named or {"channel", "topic"} <= named:
                return rest
            raise bad_narrow("Invalid 'with' operator")
        return await self._enter(found, [term for term in rest if term.operator not in ("channel", "topic", "dm")])

    async def _enter(self, found: Located, rest: list[Term]) -> list[Term]:
        if found.participants is not None:
            self._settle_in(found.conversation_id)
            return rest
        await self._add_channel(Term("channel", found.conversation_id))
        assert found.topic_id is not None
        self._conditions.append(InTopicId(id=found.topic_id))
        return rest

    # Conversations

    async def _add_channel(self, term: Term) -> None:
        key = name_key_of(term.operand) if isinstance(term.operand, str) else ""
        caller = self._caller
        found = await queries.find_channel(self._reader, caller.realm_id, caller.user_id, term.operand, key)
        if found is None:
            raise bad_narrow(f"unknown channel {term.operand}")
        if term.negated:
            self._conditions.append(InConversations(ids=(found.id,), negated=True))
            return
        if not found.may_read:
            self._is_empty = True
        self._channel, self._size = found, found.size
        self._settle_in(found.id)

    def _settle_in(self, conversation_id: int) -> None:
        if self._conversation not in (None, conversation_id):
            self._is_empty = True
        self._conversation = conversation_id

    async def _add_direct(self, term: Term) -> None:
        people = await self._people(term.operand)
        participants = sorted({*people, self._caller.user_id})
        found = await queries.find_direct(self._reader, self._caller.realm_id, participants) if people else None
        if not term.negated:
            if found is None:
                self._is_empty = True
            else:
                self._settle_in(found)
        elif found is not None:
            self._conditions.append(InConversations(ids=(found,), negated=True))

    async def _add_directs(self, term: Term) -> None:
        other = await self._user(term.operand)
        groups_only = term.operator == "group-pm-with"
        ids = await queries.directs_with(self._reader, self._caller.user_id, other, groups_only=groups_only)
        self._conditions.append(InConversations(ids=ids, negated=term.negated))

    # Everything else

    async def _add(self, term: Term) -> None:
        operator, operand, negated = term.operator, term.operand, term.negated
        if operator == "dm":
            await self._add_direct(term)
        elif operator in ("dm-including", "group-pm-with"):
            await self._add_directs(term)
        elif operator == "topic":
            await self._add_topic(term)
        elif operator == "sender":
            self._conditions.append(SentBy(user_id=await self._user(operand), negated=negated))
        elif operator == "mentions":
            self._conditions.append(HasMark(user_id=await self._user(operand), mark=Mark.MENTIONED, negated=negated))
        elif operator == "is":
            self._conditions.append(msgspec.structs.replace(await self._is(operand), negated=negated))
        elif operator not in ("near", "in") or (operator == "in" and operand != "all"):
            self._conditions.append(_simple(term))

    async def _add_topic(self, term: Term) -> None:
        key = topic_key_of(term.operand, settings_of(self._caller))
        if self._channel is None:
            self._conditions.append(InTopic(key=key, negated=term.negated))
            return
        topic_id = await queries.find_topic(self._reader, self._channel.id, key)
        if topic_id is not None:
            self._conditions.append(InTopicId(id=topic_id, negated=term.negated))
        elif not term.negated:
            self._is_empty = True

    async def _is(self, operand: str) -> Condition:
        me = self._caller.user_id
        if operand == "mentioned":
            return IsMentioned(group_ids=await queries.groups_of(self._reader, me))
        found: dict[str, Condition] = {
            "dm": IsDirect(),
            "private": IsDirect(),
            "starred": HasMark(user_id=me, mark=Mark.STARRED),
            "alerted": HasMark(user_id=me, mark=Mark.HAS_ALERT_WORD),
            "unread": IsUnread(),
            "resolved": IsResolved(),
            "followed": IsFollowed(),
            "muted": IsHidden(),
        }
        if operand not in found:
            raise bad_narrow(f"unknown 'is' operand {operand}")
        return found[operand]

    # People

    async def _user(self, named: int | str) -> int:
        found = await self._find_user(named)
        if found is None:
            raise bad_narrow(f"unknown user {named}")
        return found

    async def _people(self, named: Any) -> list[int]:
        if isinstance(named, list):
            people: list[int | str] = named
        else:
            people = [part.strip() for part in named.split(",") if part.strip()]
        if len(people) > MAX_PEOPLE:
            raise bad_narrow(f"too many users (limit: {MAX_PEOPLE})")
        if isinstance(named, list):
            known = await self._seen(named)
            found: list[int | None] = [person if person in known else None for person in named]
        else:
            found = [await self._find_user(person) for person in people]
        if None in found:
            raise bad_narrow(f"unknown user in {named}")
        return [person for person in found if person is not None]

    async def _find_user(self, named: int | str) -> int | None:
        if isinstance(named, str) and not self._caller.user_id:
            # Whoever has no account sees no addresses, and cannot try them out either.
            named = id_of_fake_email(named, self._caller.fake_domain) or 0
        if isinstance(named, str):
            try:
                return await get_user_id(self._reader, self._caller, named)
            except Refusal:
                return None
        return named if await self._seen([named]) else None

    async def _seen(self, user_ids: list[int]) -> set[int]:
        """Those of the users who are there, and whom the caller sees."""
        known = await queries.known_users(self._reader, self._caller.realm_id, user_ids)
        return known - await hidden_from(self._reader, self._caller, known)

    # Searching

    async def _is_rare(self, query: Query) -> bool:
        """Whether the index of words is the shorter way than a walk along the messages."""
        if not query.is_stemmed:
            return any(len(piece) >= SHORTEST_INDEXED for piece in query.pieces)
        holding, total = await queries.estimate_hits(self._reader, query)
        hits = holding // int(RARER_AS_A_PHRASE ** len(query.stemmed_phrases))
        if self._conversation is not None and self._size:
            return hits < self._size
        # A walk reads, for each of some hundreds of messages found, as many as there are for each hit.
        return hits * hits <= MESSAGES_WALKED_FOR * total


SHORTEST_INDEXED = 3
"""The index of substrings is one of three letters each."""
MESSAGES_WALKED_FOR = 300
RARER_AS_A_PHRASE = 30
"""How much rarer a phrase is than its words together; a guess, the planner has none."""


def _simple(term: Term) -> Condition:
    """The condition of a term that names nobody and nothing."""
    operator, operand, negated = term.operator, term.operand, term.negated
    if operator == "channels":
        if operand not in ("public", "web-public", "archived"):
            raise bad_narrow(f"unknown channels operand {operand}")
        return InChannels(kind=operand, negated=negated)
    if operator == "in":
        if operand != "home":
            raise bad_narrow(f"unknown 'in' operand {operand}")
        return IsHidden(negated=not negated)
    if operator == "has":
        if operand not in ("attachment", "image", "link", "reaction"):
            raise bad_narrow(f"unknown 'has' operand {operand}")
        return Has(what=operand, negated=negated)
    if operator == "id":
        message_id = number_of(operand)
        if message_id is None:
            raise bad_narrow("Invalid message ID")
        return HasId(id=min(message_id, 2**63 - 1), negated=negated)
    raise bad_narrow(f"unknown operator {operator}")
