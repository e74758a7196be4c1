"""The terms of a narrow: how many there may be."""

import pytest

from tertulia.messaging.narrows.terms import MAX_NEGATED, MAX_TERMS, parse_terms


def terms(count: int, *, negated: bool) -> list[dict[str, object]]:
    return [{"operator": "mentions", "operand": number, "negated": negated} for number in range(count)]


def test_a_narrow_has_some_terms_and_fewer_negated_ones() -> None:
    most = [*terms(MAX_NEGATED, negated=True), *terms(MAX_TERMS - MAX_NEGATED, negated=False)]
    assert len(parse_terms(most)) == MAX_TERMS
    with pytest.raises(ValueError, match="too many negated terms"):
        parse_terms(terms(MAX_NEGATED + 1, negated=True))
    with pytest.raises(ValueError, match="too many terms"):
        parse_terms([*most, *terms(1, negated=False)])
