"""Everything that can be piled up has a bound: no table is left out, and the setting names only what there is."""

import re
from collections import Counter

import pytest

from tertulia.kernel.bounds import Bound, Bounds, Otherwise, parse_bounds
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.server.features import FEATURES
from tests.rules.test_tables import tables

DECLARED = [one for feature in FEATURES for one in feature.bounds]
BOUNDS = [one for one in DECLARED if isinstance(one, Bound)]


def test_every_table_has_a_bound_or_a_reason() -> None:
    named = {table for one in DECLARED for table in one.tables}
    assert tables() - named == set(), "declare in the feature's bounds.py how many rows somebody can pile up there"
    assert named - tables() == set(), "there are no such tables"


def test_a_table_has_a_bound_or_a_reason_why_not() -> None:
    bounded = {table for one in BOUNDS for table in one.tables}
    excused = Counter(table for one in DECLARED if isinstance(one, Otherwise) for table in one.tables)
    assert bounded & excused.keys() == {"account"}, "bots are bounded"
    assert max(excused.values()) == 1


def test_a_bound_is_counted_in_its_own_table_and_says_itself() -> None:
    for bound in BOUNDS:
        assert re.fullmatch(r"[a-z_]+", bound.name)
        assert bound.limit >= 1
        assert bool(bound.refusal) != bool(bound.instead)
        assert not bound.counted or any(re.search(rf"\b{table}\b", bound.counted) for table in bound.tables)
        assert not bound.counted or "$1" in bound.counted
        assert bound.refusal.format(limit=bound.limit) == bound.refusal.replace("{limit}", str(bound.limit))
    assert len({bound.name for bound in BOUNDS}) == len(BOUNDS)


def test_an_operator_changes_bounds_by_name() -> None:
    drafts = next(bound for bound in BOUNDS if bound.name == "drafts")
    groups = next(bound for bound in BOUNDS if bound.name == "groups")
    changed = Bounds.of(Settings(bounds=" drafts = 7 "), BOUNDS)
    assert (changed.limit(drafts), changed.limit(groups)) == (7, groups.limit)
    with pytest.raises(SettingsError, match="none named draft"):
        Bounds.of(Settings(bounds="draft=7"), BOUNDS)


@pytest.mark.parametrize("text", ["drafts", "drafts=x", "drafts=0", "drafts=-1", "drafts=1=2", "=,="])
def test_what_says_no_bounds_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_bounds(text)
