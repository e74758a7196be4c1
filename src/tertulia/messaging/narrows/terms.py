"""The terms of a narrow as they come over the wire (pure): `{operator, operand, negated?}`, or pairs of texts."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.endpoint import Wire, decode_json
from tertulia.kernel.errors import Refusal

MAX_TERMS = 64
MAX_NEGATED = 16
"""Each is asked of every message that the others leave: 58 of them made a search take seconds."""
ALIASES = {
    "stream": "channel",
    "streams": "channels",
    "pm-with": "dm",
    "pm_with": "dm",
    "group_pm_with": "group-pm-with",
}
_TEXTS = frozenset(["topic", "is", "in", "has", "near", "search", "channels"])
_TEXTS_OR_NUMBERS = frozenset(["channel", "sender", "dm-including", "group-pm-with", "mentions", "id", "with"])


class Term(msgspec.Struct, frozen=True):
    """One operator with its operand; older spellings of operators are replaced by the present ones."""

    operator: str
    operand: Any
    negated: bool = False


def bad_narrow(desc: str, lead: str = "Invalid narrow operator") -> Refusal:
    """A narrow that makes no sense."""
    return Refusal(f"{lead}: {desc}", code="BAD_NARROW", desc=desc)


def parse_terms(value: Any) -> list[Term]:
    """A narrow from its JSON text, or from a decoded value; null has no terms."""
    if isinstance(value, str):
        value = decode_json(value)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError("is not a list")
    if len(value) > MAX_TERMS:
        raise ValueError(f"has too many terms (limit: {MAX_TERMS})")
    terms = [_term(item, f"narrow[{index}]") for index, item in enumerate(value)]
    if sum(term.negated for term in terms) > MAX_NEGATED:
        raise ValueError(f"has too many negated terms (limit: {MAX_NEGATED})")
    return terms


def parse_given_terms(value: Any) -> list[Term] | None:
    """As `parse_terms`, where null is no narrow at all."""
    is_null = isinstance(value, str) and value.strip() == "null"
    return None if is_null else parse_terms(value)


def _term(item: Any, place: str) -> Term:
    if isinstance(item, list):
        if len(item) != 2 or not all(isinstance(part, str) for part in item):
            raise Refusal(f"Invalid {place}: a pair has exactly two strings")
        return _checked(Term(*item))
    if not isinstance(item, dict):
        raise Refusal(f"Invalid {place}: neither an object nor a pair")
    for key in ("operator", "operand"):
        if item.get(key) is None:
            raise Refusal(f"Invalid {place}: {key} is missing")
    if not isinstance(item["operator"], str):
        raise Refusal(f"Invalid {place}: operator is not a string")
    negated = item.get("negated", False)
    if not isinstance(negated, bool):
        raise Refusal(f"Invalid {place}: negated is not a boolean")
    return _checked(Term(item["operator"], item["operand"], negated))


def _checked(term: Term) -> Term:
    operator, operand = ALIASES.get(term.operator, term.operator), term.operand
    if operator in _TEXTS and not isinstance(operand, str):
        raise Refusal("operand is not a string")
    if operator in _TEXTS_OR_NUMBERS and not is_number(operand) and not isinstance(operand, str):
        raise Refusal("operand is not a string or integer")
    if operator == "dm" and not isinstance(operand, str):
        if not isinstance(operand, list):
            raise Refusal("operand is not a string or an integer list")
        for index, part in enumerate(operand):
            if not is_number(part):
                raise Refusal(f"operand[{index}] is not an integer")
    if isinstance(operand, str) and "\0" in operand:
        raise Refusal("operand holds a NUL character")
    if operator == "search" and not operand.strip():
        raise Refusal("operand can't be blank.")
    return Term(operator, operand, term.negated)


def is_number(value: object) -> bool:
    """Whether a decoded JSON value is an integer."""
    return isinstance(value, int) and not isinstance(value, bool)


_SCHEMA = {"type": "array", "items": {"type": "object"}, "description": "Terms, all of which hold."}
Narrow = Annotated[list[Term], Wire(parse_terms, _SCHEMA)]
GivenNarrow = Annotated[list[Term], Wire(parse_given_terms, _SCHEMA)]
