"""Marking hits in HTML, and reading what was typed into a search box."""

import asyncio
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tertulia.messaging.narrows.highlight import CLOSE, MAX_CHARACTERS, OPEN, escape_text, highlight, words_of
from tertulia.messaging.narrows.search import MAX_TYPED, Query, like, parse_query
from tertulia.messaging.narrows.stems import Marker

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


def test_of_a_very_long_message_only_the_beginning_is_marked() -> None:
    markup = "<p>" + "<b>tree</b> &amp; " * 20_000 + "</p>"
    marked = highlight(markup, {"tree"}.__contains__, ["&"])
    assert marked.replace(OPEN, "").replace(CLOSE, "") == markup
    marks = marked.count(OPEN)
    assert marks > 1_000
    assert marked.rindex(OPEN) - marks * len(OPEN + CLOSE) < MAX_CHARACTERS
    assert words_of(markup + "<b>leaf</b>") == {"tree"}
    assert highlight("tree " * 20_000, {"tree"}.__contains__) == "tree " * 20_000  # a text is never cut


def test_who_marks_a_long_answer_does_not_hold_up_the_others() -> None:
    """Others get their turn while it is done: it is not one long step of the event loop."""

    async def turns_while_marking(markups: list[str]) -> int:
        marker = Marker(Query(runs=("木",)), ())
        marking = asyncio.ensure_future(marker.mark_all(markups))
        turns = 0
        while not marking.done():
            await asyncio.sleep(0)
            turns += 1
        assert [marked.replace(OPEN, "").replace(CLOSE, "") for marked in marking.result()] == markups
        assert all(OPEN in marked for marked in marking.result())
        return turns

    assert asyncio.run(turns_while_marking(["<p>" + "木 &amp; " * 3_000 + "</p>"] * 10)) > 5


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
    assert _without_beginnings(typed) == query


def test_of_what_was_typed_only_so_much_is_read() -> None:
    assert _without_beginnings("tree " + " " * MAX_TYPED + "leaf") == Query(("tree",))


def _without_beginnings(typed: str) -> Query:
    return msgspec.structs.replace(parse_query(typed), beginnings=())


@pytest.mark.parametrize(
    ("typed", "begun"),
    [
        ("deplo", ["deplo"]),
        ("(Deplo, ab", ["deplo"]),
        ('"deplo" server', ["server"]),
        ("123 v123 a-b-c www.example.org", ["v123"]),
        ("one two three four five", ["two", "three", "four", "five"]),
        ("木の葉 \u5e74", []),
    ],
)
def test_the_last_few_words_with_enough_letters_may_be_only_begun(typed: str, begun: list[str]) -> None:
    assert [beginning.letters for beginning in parse_query(typed).beginnings] == begun


def test_a_pattern_means_its_letters() -> None:
    assert like(r"50%_\x") == r"%50\%\_\\x%"
