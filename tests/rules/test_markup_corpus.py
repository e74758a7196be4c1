"""Every case of the corpus becomes exactly its HTML, safe and untouched by the last gate."""

import pytest

from tertulia.content.markup import render
from tertulia.content.markup.page import Page
from tertulia.content.markup.renderer import written
from tests.rules.markup_corpus import Case, cases
from tests.rules.markup_page import read

CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_text_becomes_its_html(case: Case) -> None:
    html = render(case.content, case.context).html
    assert html == case.html
    assert read(html) == read(written(case.content, Page(case.context)))


def test_the_corpus_is_large_and_every_case_has_its_own_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 300
