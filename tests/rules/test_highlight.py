"""Marking hits in HTML, and reading what was typed into a search box."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tertulia.narrows.highlight import CLOSE, OPEN, escape_text, highlight, words_of
from tertulia.narrows.search import Query, like, parse_query

pieces_of_html = some.lists(
    some.one_of(
        some.sampled_from(
            [
                "<p>",
                "</p>",
                '<a href="x?a=1&amp;b=<2>" title="tree > leaf">',
                "<b>",
                "</b>",
                "<br>",
                "&amp;",
                "&lt;",
                "&#39;",
            ]
        ),
        some.sampled_from(
            ["tree", "Trees", "leaf", " ", "\n", "é", "木の葉", "İ", "ß", "x", "amp", "span", "highlight"]
        ),
    ),
    max_size=20,
).map("".join)


@given(pieces_of_html, some.lists(some.sampled_from(["tree", "amp", "a", "葉", "&", "<", "leaf x"]), max_size=3))
def test_without_the_marks_nothing_has_changed_and_no_tag_or_entity_is_cut(markup: str, pieces: list[str]) -> None:
    marked = highlight(markup, {"tree", "trees", "span", "highlight", "lt"}.__contains__, pieces)
    assert marked.replace(OPEN, "\0").replace(CLOSE, "\0").replace("\0", "") == markup.replace(CLOSE, "")
    for whole in re.findall(r"<[^<>]*(?:<2>[^<>]*>[^<>]*)?>|&[^;<>]*;", markup):
        assert whole in marked


def test_each_hit_is_wrapped_as_it_was_written() -> None:
    assert highlight("<p>Trees, a tree</p>", {"tree", "trees"}.__contains__) == (
        f"<p>{OPEN}Trees{CLOSE}, a {OPEN}tree{CLOSE}</p>"
    )


def test_tags_and_their_attributes_are_left_alone() -> None:
    markup = '<a href="/tree" title="a tree > a leaf">tree</a>'
    assert highlight(markup, {"tree"}.__contains__) == markup.replace(">tree<", f">{OPEN}tree{CLOSE}<")


def test_entities_are_letters() -> None:
    assert highlight("a &amp; b", set[str]().__contains__, ["a & b"]) == f"{OPEN}a &amp; b{CLOSE}"
    assert highlight("&amp;", {"amp"}.__contains__) == "&amp;"
    assert words_of("<p>don&#39;t &lt;b&gt;</p>") == {"don", "t", "b"}


def test_pieces_are_found_whatever_their_case_and_overlaps_are_one_mark() -> None:
    assert highlight("abcdE", set[str]().__contains__, ["BCD", "cde"]) == f"a{OPEN}bcdE{CLOSE}"


def test_a_topic_is_escaped() -> None:
    assert escape_text("""<b> & "quoted" 'it'""") == "&lt;b&gt; &amp; &quot;quoted&quot; &#39;it&#39;"


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("two words", Query(("two", "words"))),
        ('"a phrase" more', Query(("more",), ("a phrase",))),
        ('open "ended phrase', Query(("open",), ("ended phrase",))),
        ("木の葉 tree", Query(("tree",), (), ("木の葉",))),
        ('"木 の"', Query((), ("木 の",))),
        ("... !?", Query()),
        ('""', Query()),
        ("same same", Query(("same",))),
    ],
)
def test_what_was_typed_is_words_phrases_and_runs(typed: str, query: Query) -> None:
    assert parse_query(typed) == query


def test_a_pattern_means_its_letters() -> None:
    assert like(r"50%_\x") == r"%50\%\_\\x%"
