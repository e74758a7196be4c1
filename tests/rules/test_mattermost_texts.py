"""Mattermost's Markdown in ours: the same words, and nothing becomes a mention that was none."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tertulia.archives.converting import markdown
from tertulia.archives.converting.emoji import name_of
from tertulia.archives.converting.mattermost.attached import attached
from tertulia.archives.converting.mattermost.text import MOST_MARKUP, parse
from tertulia.content.markup import render
from tests.harness.growth import check_proportion
from tests.rules.test_converted_texts import CONTEXT


class Names:
    """A team with three people, two channels and one emoji of its own."""

    def person(self, username: str) -> int | None:
        return {"ada": 31, "ada.": 7, "user_name_x": 7}.get(username.lower())

    def channel(self, name: str) -> tuple[int, str] | None:
        return {"dev": (9, "dev"), "a-b": (10, "a > b")}.get(name)

    def emoji(self, name: str) -> str | None:
        return "bird" if name == "bird" else name_of(name)


TEXTS = [
    # Styles
    ("plain words", "plain words"),
    ("_i_ *i* __b__ **b** ***x*** ~~s~~ `c`", "*i* *i* **b** **b** ***x*** ~~s~~ `c`"),
    ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
    (r"\*x\* \_y\_ \`z\` \@ada", "&#42;x&#42; _y_ &#96;z&#96; @ada"),
    ("*two\nlines*", "*two*\n*lines*"),
    ("a\nb", "a\nb"),
    ("&copy; &amp;copy; <b>x</b>", "© &amp;copy; <b>x</b>"),
    # Blocks
    ("# H #\ntext", "# H\n\ntext"),
    ("Title\n===\n\nother\n---", "# Title\n\n# other"),
    ("a\n\n***\n\nb", "a\n\n---\n\nb"),
    ("- a\n  - b\n    1. c\n- d", "- a\n  - b\n    1. c\n- d"),
    ("3. x\n4. y", "3. x\n4. y"),
    ("- a\n\n  second\n- b", "- a\n\nsecond\n- b"),
    ("> q\n> > r\n\nend", "> q\n> > r\n\nend"),
    ("> > > > > deep", "> > > deep"),
    ("|a|b|\n|-|-|\n|1|**2**|", "a | b\n1 | **2**"),
    ("```py\nx = '@ada'\n```", "```py\nx = '@ada'\n```"),
    ("~~~\n@all\n~~~", "```\n@all\n```"),
    ("```quote\n@ada\n```", "```\n@ada\n```"),
    ("```some words\nmore\n```", "```\nsome words\nmore\n```"),
    ("```latex\nx^2\n```", "```math\nx^2\n```"),
    ("    indented", "```\nindented\n```"),
    # Names
    ("@ada, @ADA @ada.. @user_name_x_ @nobody", "@**|31**, @**|31** @**|7**. @**|7**_ @nobody"),
    ("x@ada.org @all.example", "x@ada.org @all.example"),
    ("@all @Here. @channel!", "@**all** @**all**. @**all**!"),
    ("`@all` [@ada](https://x.org)", "`@all` [@ada](https://x.org)"),
    ("~dev ~a-b. ~none ~~dev~~ a~dev", "#**dev** [&num;a &gt; b](/#narrow/channel/10-a-.3E-b). ~none ~~dev~~ a~dev"),
    (":+1: :bird: :wave_dark_skin_tone: :nope: 10:30:20", ":+1: :bird: :wave: :nope: 10:30:20"),
    ("#hashtag", "#hashtag"),
    # Addresses
    ("https://x.org/a_b_*c* end", "https://x.org/a_b_*c* end"),
    ("<https://x.org> [l *b*](https://x.org/(a) \"t\")", "https://x.org [l b](https://x.org/%28a%29)"),
    ("~~**[l](https://x.org)**~~", "~~**[l](https://x.org)**~~"),
    ("[r][1] [2]\n\n[1]: https://ref.org\n[2]: <https://two.org>", "[r](https://ref.org) [2](https://two.org)"),
    ("![p](https://x.org/p.png =100x50) ![](https://x.org/q.png)", "[p](https://x.org/p.png) https://x.org/q.png"),
    ("[x](javascript:alert(1))", "x (javascript:alert(1))"),
    # What means something here and meant nothing there
    ("@**all** @*crew* #**dev**", "&#64;**all** &#64;*crew* &#35;**dev**"),
    ("$$x$$ /poll", "&#36;&#36;x&#36;&#36; /poll"),
    ("/poll x", "&#47;poll x"),
    ("a\x00b\ud800c", "abc"),
    (" \n ", ""),
]  # fmt: skip


def written(text: str) -> list[str]:
    return markdown.write(parse(text, Names()))


@pytest.mark.parametrize(("theirs", "ours"), TEXTS)
def test_their_text_becomes_our_markdown(theirs: str, ours: str) -> None:
    assert "".join(written(theirs)) == ours


def test_odd_attachments_are_left_out() -> None:
    odd: list[object] = [
        None,
        3,
        {"text": 5, "fields": [None, {"value": []}], "title": None},
        {"fallback": "only this"},
    ]
    assert markdown.write(attached({"attachments": odd}, Names())) == ["> only this"]
    assert attached({"attachments": "odd"}, Names()) == []


SIGNS = ["*", "**", "_", "__", "~~", "~", "`", "```", "```\n", "@", "@_", "#", "@**all**", "@*crew*", "@**|31**", "@_**|31**",
         "@**Ada**", "#**dev**", "[", "]", "](", "(", ")", "<", ">", "> ", "&", "&copy;", "&#64;", "&#42;", ";", "$$", ":)",
         "![", "- ", "1. ", "# ", "/me ", "\n", "\n\n", "    ", "===", "---", "https://x.org/", "a@b.org", "!", ".", "\\",
         "<time:2023-01-01>", "~~~\n", " ", " ", "spoiler", "quote"]  # fmt: skip
MIXED = st.lists(st.sampled_from([*SIGNS, *[None] * 20]), max_size=24)


@settings(max_examples=200, deadline=None)
@given(MIXED)
def test_all_words_come_in_their_order_and_nobody_is_mentioned_who_was_not(parts: list[str | None]) -> None:
    text = "".join(f" w{place}x " if part is None and place % 2 else f"w{place}x" if part is None else part
                   for place, part in enumerate(parts))  # fmt: skip
    assume("]:" not in text)
    made = written(text)
    # An address may be written twice: as what is shown, and as what it leads to.
    assert list(dict.fromkeys(re.findall(r"w\d+x", "".join(made)))) == re.findall(r"w\d+x", text), (text, made)
    for one in made:
        rendered = render(one, CONTEXT)
        assert [rendered.mentioned_user_ids, rendered.mentioned_group_ids] == [set(), set()], (text, one)
        assert not rendered.mentions_channel, (text, one)


@pytest.mark.parametrize("text", ["word " * 3_900, "*" * 19_000, "a\n" * 9_000, "**b** _i_ " * 1_800, "- x\n" * 4_000,
                                  "> q " * 4_000, "```\n" + "line\n" * 3_000 + "```", "word " * 20_000])  # fmt: skip
def test_a_text_that_is_too_long_becomes_several(text: str) -> None:
    made = written(text)
    assert all(0 < len(one) <= markdown.LIMIT for one in made)
    assert "".join(made).count("word") == text.count("word")


@pytest.mark.parametrize("text", ["[" * 8_000, "*a " * 4_000, "![[" * 3_000, "@a." * 4_000, "~a" * 5_000, ":a" * 5_000,
                                  "> " * 5_000, "a*" * 5_000, "http://" * 2_000, "@" * 9_000, "![a](b " * 2_000])  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_length(text: str) -> None:
    assert len(text) <= MOST_MARKUP
    check_proportion(written, text[: len(text) // 4], text)
