"""Pure decisions about narrows."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tertulia.conversations.channels.rules import name_key_of
from tertulia.conversations.topics.rules import NO_TOPIC
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.terms import Term, bad_narrow, is_number
from tertulia.organization.realms.settings import RealmSettings

_DIGITS = re.compile(r"[0-9]{1,19}")
_OPEN_TO_ANYBODY = frozenset(["channel", "channels", "topic", "sender", "has", "search", "near", "id", "with"])


class ScopeOf(NamedTuple):
    """Which messages a narrow considers."""

    of_many: Scope
    is_personal: bool
    """Only what the reader received, or marked, also inside one channel."""


def check_mixture(terms: Sequence[Term]) -> None:
    """Refuse a narrow that asks for channel messages and direct messages at once."""
    in_channels = any(
        (term.operator in ("channel", "channels", "topic") and not term.negated) or (_is_direct(term) and term.negated)
        for term in terms
    )
    direct = any(
        (term.operator in ("dm", "dm-including", "group-pm-with") or _is_direct(term)) and not term.negated
        for term in terms
    )
    if in_channels and direct:
        raise bad_narrow("No message can be both a channel message and direct message")


def scope_of(terms: Sequence[Term], *, is_guest: bool, is_anonymous: bool = False) -> ScopeOf:
    """The scope that follows from the terms: personal ones ask for what was received."""
    if is_anonymous:
        return ScopeOf(Scope.WEB_PUBLIC, is_personal=False)
    personal = [term for term in terms if term.operator == "is" and term.operand != "resolved"]
    if any(term.operand == "starred" and not term.negated for term in personal):
        # Starring a message makes it one's own, received or not.
        return ScopeOf(Scope.REACHED, is_personal=False)
    if personal:
        return ScopeOf(Scope.RECEIVED, is_personal=True)
    kinds = {term.operand for term in terms if term.operator == "channels" and not term.negated}
    if is_guest or "archived" in kinds or not kinds:
        return ScopeOf(Scope.RECEIVED, is_personal=False)
    return ScopeOf(Scope.WEB_PUBLIC if "web-public" in kinds else Scope.PUBLIC, is_personal=False)


def is_open_to_anybody(terms: Sequence[Term]) -> bool:
    """Whether a reader without an account may ask this: only of web-public channels, and nothing personal."""
    asks_public = any(
        (term.operator, term.operand, term.negated) == ("channels", "web-public", False) for term in terms
    )
    return asks_public and all(
        term.operator in _OPEN_TO_ANYBODY or (term.operator, term.operand) == ("is", "resolved") for term in terms
    )


def without_home(terms: Sequence[Term]) -> list[Term]:
    """What a reader without an account asks: they have muted nothing."""
    return [term for term in terms if (term.operator, term.operand) != ("in", "home")]


def topic_key_of(operand: str, settings: RealmSettings) -> str:
    """The key of a topic in a narrow: whatever cannot be a topic is one that nobody wrote in."""
    name = operand.strip()
    return "" if name in (NO_TOPIC, settings.empty_topic_display_name) else name_key_of(name)


def number_of(operand: object) -> int | None:
    """A message id: a number, or a text of digits."""
    if is_number(operand):
        assert isinstance(operand, int)
        return operand if operand >= 0 else None
    return int(operand) if isinstance(operand, str) and _DIGITS.fullmatch(operand) else None


def _is_direct(term: Term) -> bool:
    return term.operator == "is" and term.operand in ("dm", "private")
