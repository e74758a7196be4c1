"""The difference of two rendered texts: what it marks, and that it can never make HTML that was not there."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.messaging.editing.history.html_diff import html_diff

_TAG = re.compile(r"""<(?:"[^"]*"|'[^']*'|[^'">])*>""")
_MARKS = ('<span class="highlight_text_inserted">', '<span class="highlight_text_deleted">', "</span>")

_words = st.sampled_from(["tea", "milk", " ", "&lt;b&gt;", "&amp;", "é", "\n", "x > y"])
_leaf = st.lists(_words, max_size=5).map("".join)
_html = st.recursive(
    _leaf,
    lambda inner: st.tuples(st.sampled_from(["p", "em", 'a href="x>y"', "li"]), st.lists(inner, max_size=3)).map(
        lambda made: f"<{made[0]}>" + "".join(made[1]) + f"</{made[0].split()[0]}>"
    ),
    max_leaves=8,
)


def test_words_that_came_and_went_are_marked() -> None:
    assert html_diff("<p>one two</p>", "<p>one three</p>") == (
        '<p>one <span class="highlight_text_deleted">two</span><span class="highlight_text_inserted">three</span></p>'
    )


def test_what_is_the_same_is_not_marked() -> None:
    assert html_diff("<p>a <em>b</em></p>", "<p>a <em>b</em></p>") == "<p>a <em>b</em></p>"


def test_a_word_added_at_the_end_is_all_that_is_marked() -> None:
    assert html_diff("<p>one</p>", "<p>one two</p>") == ('<p>one<span class="highlight_text_inserted"> two</span></p>')


@pytest.mark.parametrize("words", [10, 200, 399, 1_700])
@pytest.mark.parametrize("shared", ["", "and "])
def test_a_text_that_is_written_anew_costs_little(words: int, shared: str) -> None:
    old, new = ("".join(f"{letter}{number} {shared}" for number in range(words)) for letter in "ab")
    started = time.perf_counter()
    found = html_diff(f"<p>{old}</p>", f"<p>{new}</p>")
    assert time.perf_counter() - started < 1.0
    assert found.endswith("</p>")
    assert "b9" in found


@given(_html, _html)
def test_without_its_marks_it_is_the_new_text(old: str, new: str) -> None:
    shown = re.sub(r'<span class="highlight_text_deleted">.*?</span>', "", html_diff(old, new), flags=re.S)
    assert shown.replace(_MARKS[0], "").replace("</span>", "") == new


@given(_html, _html)
def test_its_tags_are_those_of_the_new_text_and_the_marks(old: str, new: str) -> None:
    tags = [tag for tag in _TAG.findall(html_diff(old, new)) if tag not in _MARKS]
    assert tags == _TAG.findall(new)
