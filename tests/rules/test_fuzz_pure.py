"""The short version of `bin/fuzz markup` and `bin/fuzz multipart`: the same seeds every time."""

import pytest

from tests.fuzz import markup_run, multipart_run
from tests.fuzz.for_minutes import check_seed


@pytest.mark.parametrize("first", range(0, 200, 100))
def test_a_text_that_nobody_would_write_is_rendered_safely_and_soon(first: int) -> None:
    for seed in range(first, first + 100):
        check_seed(seed, markup_run.make, markup_run.check)


FOUND = [1_023_235]
"""Seeds of bodies that were read in one piece and refused in several."""


@pytest.mark.parametrize("seed", FOUND)
def test_a_body_that_was_read_by_chance_is_not_any_more(seed: int) -> None:
    check_seed(seed, multipart_run.make, multipart_run.check)


@pytest.mark.parametrize("first", range(0, 400, 200))
def test_a_multipart_body_is_read_the_same_in_whatever_pieces_it_comes(first: int) -> None:
    for seed in range(first, first + 200):
        check_seed(seed, multipart_run.make, multipart_run.check)
