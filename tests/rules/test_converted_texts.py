"""Texts from other chats: our Markdown shows the same words, and makes nothing of them that was not meant."""

import html
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tertulia.archives.converting import markdown
from tertulia.archives.converting.assembling import file_path
from tertulia.archives.converting.composing import addresses_of, linked_in
from tertulia.archives.converting.shelf import ShelvedFile
from tertulia.archives.converting.slack.blocks import text_of
from tertulia.archives.converting.slack.text import parse
from tertulia.archives.converting.tree import (
    Block,
    CodeBlock,
    Emoji,
    Heading,
    Inline,
    Item,
    Items,
    Link,
    Mention,
    Paragraph,
    Quote,
    Text,
)
from tertulia.content.markup import Channel, Context, MentionableGroup, MentionablePerson, render
from tertulia.files.uploads.names import url_of
from tests.harness.growth import check_proportion

CONTEXT = Context(
    realm_id=2,
    realm_url="https://chat.example",
    picture_key="key",
    people=(MentionablePerson(31, "Ada"), MentionablePerson(7, "all*")),
    groups=(MentionableGroup(17, "crew"),),
    channels=(Channel(9, "dev"), Channel(10, "a > b")),
    is_old=True,  # as imports read texts
)


class SlackNames:
    """A workspace with one person and two channels."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def person(self, slack_id: str, label: str = "") -> int:
        del label
        return {"U1": 31}.get(slack_id, 7)

    def channel(self, slack_id: str, label: str) -> tuple[int, str] | None:
        del label
        return {"C1": (9, "dev"), "C2": (10, "a > b")}.get(slack_id)

    def conversation(self, slack_id: str) -> int | None:
        return {"C1": 9, "D1": 20}.get(slack_id)

    def count(self, what: str, example: str = "") -> None:
        del example
        self.counted.append(what)


PLACE = "\x009/1700000000123456/https://t.slack.com/archives/C1/p1700000000123456\x00"
TEXTS = [
    # Styles
    ("plain words", "plain words"),
    ("*b* _i_ ~s~ `c`", "**b** *i* ~~s~~ `c`"),
    ("*_x_* _*x*_ ~*x*~", "***x*** ***x*** ~~**x**~~"),
    ("(*b*), \"_i_\"", '(**b**), "*i*"'),
    ("2 * 3 * 4", "2 * 3 * 4"),
    ("snake_case_name a*b*c", "snake_case_name a&#42;b&#42;c"),
    ("* not bold * _ nor _", "&#42; not bold * _ nor _"),
    ("*two\nlines*", "&#42;two\nlines&#42;"),
    ("*a* *b*", "**a** **b**"),
    ("*a*_b_", "**a**\u200b*b*"),
    ("*see <https://x.org/a|this>*", "**see** **[this](https://x.org/a)**"),
    ("**", "&#42;&#42;"),
    ("*", "&#42;"),
    ("__x__ ~~x~~", "__x__ &#126;&#126;x&#126;&#126;"),
    # Code
    ("`a*b*` &amp;", "`a*b*` &"),
    ("`&lt;b&gt; &amp;amp;`", "`<b> &amp;`"),
    ("``", "&#96;&#96;"),
    ("```x = 1```", "```\nx = 1\n```"),
    ("before ```x\ny``` after", "before\n```\nx\ny\n```\nafter"),
    ("```<https://x.org>```", "```\nhttps://x.org\n```"),
    ("```a &lt; b &amp;&amp; c```", "```\na < b && c\n```"),
    ("```not closed", "&#96;&#96;&#96;not closed"),
    # Quotes
    ("&gt; q", "> q"),
    ("&gt;q\n&gt; r\nafter", "> q\n> r\n\nafter"),
    ("a\n&gt;&gt;&gt; b\nc", "a\n> b\n> c"),
    ("&gt; *b* <@U1>", "> **b** @**|31**"),
    ("a &gt; b", "a > b"),
    # Links
    ("<https://x.org>", "https://x.org"),
    ("see <https://x.org>.", "see [https://x.org](https://x.org)."),
    ("<https://x.org/a?b=1&amp;c=2>", "https://x.org/a?b=1&c=2"),
    ("<https://x.org|x.org>", "[x.org](https://x.org)"),
    ("<https://x.org/a_(b)*c*|l>", "[l](https://x.org/a_%28b%29*c*)"),
    ("<https://x.org|a|b ] c>", "[a|b &#93; c](https://x.org)"),
    ("<https://x.org|*l*>", "[&#42;l&#42;](https://x.org)"),
    ("<javascript:alert(1)|x>", "x (javascript:alert(1))"),
    ("<mailto:a@b.org|a@b.org> <tel:+123|+123>", "a@b.org +123"),
    ("<mailto:a@b.org|write>", "[write](mailto:a@b.org)"),
    # People and places
    ("<@U1>", "@**|31**"),
    ("hi<@U1|ada>!", "hi @**|31**!"),
    ("*<@U1>*", "@**|31**"),
    ("<@U9|gone>", "@**|7**"),
    ("<@W9>", "@**|7**"),
    ("<#C1|dev> <#C1> <#C1|>", "#**dev** #**dev** #**dev**"),
    ("<#C2|a>", "[&num;a &gt; b](/#narrow/channel/10-a-.3E-b)"),
    ("<#C9|gone>", "#gone"),
    ("<#C9>", "#private-channel"),
    ("<!here> <!channel> <!everyone|@everyone>", "@**all** @**all** @**all**"),
    ("<!subteam^S1|@crew>", "@crew"),
    ("<!unknown^1|shown>", "shown"),
    ("<!date^1700000000^{date}|x>", "<time:2023-11-14T22:13:20Z>"),
    ("<!date^99999999999^{date}|x>", "<time:5138-11-16T09:46:39Z>"),
    ("<https://t.slack.com/archives/C1/p1700000000123456|that>", f"[that]({PLACE})"),
    ("<https://t.slack.com/archives/C9/p1700000000123456>", "https://t.slack.com/archives/C9/p1700000000123456"),
    # Emoji
    (":smile: :+1::skin-tone-3: :cat:", ":smile: :+1: :cat_face:"),
    (":man-shrugging:", ":man_shrugging:"),
    (":our_own:", ":our_own:"),
    ("at 10:30:20", "at 10:30:20"),
    # What means something here and meant nothing there
    ("@**all** #**dev**", "@&#42;&#42;all&#42;&#42; #&#42;&#42;dev&#42;&#42;"),
    ("@*crew* @_*crew*", "&#64;**crew** &#64;_**crew**"),
    ("$$x$$", "&#36;&#36;x&#36;&#36;"),
    ("[a](https://x.org)", "[a&#93;(https&#58;//x&#46;org)"),
    ("&lt;time:2023-01-01&gt;", "&lt;time:2023-01-01>"),
    ("&amp;copy; &amp;#65; &amp;x;", "&amp;copy; &amp;#65; &x;"),
    ("# a\n- b\n+ c\n1. d\n---\n> e", "&#35; a\n&#45; b\n&#43; c\n1&#46; d\n&#45;--\n&gt; e"),
    ("a | b\n--|--\n1 | 2", "a | b\n&#45;-|--\n1 | 2"),
    ("/poll x", "&#47;poll x"),
    ("    indented", "indented"),
    ("a\x00b\ud800c", "abc"),
    ("", ""),
    (" \n ", ""),
]  # fmt: skip


@pytest.mark.parametrize(("slack", "ours"), TEXTS)
def test_slacks_text_becomes_our_markdown(slack: str, ours: str) -> None:
    assert "".join(markdown.write(parse(slack, SlackNames()))) == ours


def rich(*elements: Any) -> dict[str, Any]:
    return {"blocks": [{"type": "rich_text", "elements": list(elements)}], "text": "not this"}


def section(*leaves: Any) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(leaves)}


def word(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, "style": style} if style else {"type": "text", "text": text}


MESSAGES = [
    (rich(section(word("a *b* "), word("c", bold=True))), "a &#42;b&#42; **c**"),
    (rich(section(word("a ", bold=True), word(" b", bold=True))), "**a  b**"),
    (rich(section(word("x\ny", italic=True))), "*x*\n*y*"),
    (rich(section(word("f()", code=True), word("s", strike=True))), "`f()`~~s~~"),
    (rich(section(word("a`b", code=True))), "``a`b``"),
    (rich(section({"type": "user", "user_id": "U1"}, word(" look"))), "@**|31** look"),
    (rich(section({"type": "channel", "channel_id": "C1"}, {"type": "broadcast", "range": "here"})),
     "#**dev** @**all**"),
    (rich(section({"type": "emoji", "name": "tada", "skin_tone": 2}, {"type": "emoji", "name": "ours"})),
     ":tada::ours:"),
    (rich(section({"type": "link", "url": "https://x.org", "text": "x"})), "[x](https://x.org)"),
    (rich(section({"type": "link", "url": "https://x.org", "text": "x", "style": {"bold": True, "strike": True}})),
     "~~**[x](https://x.org)**~~"),
    (rich(section({"type": "link", "url": "https://x.org", "style": {"italic": True}})),
     "*[https://x.org](https://x.org)*"),
    (rich(section({"type": "date", "timestamp": 1700000000, "format": "{date}"})), "<time:2023-11-14T22:13:20Z>"),
    (rich(section({"type": "usergroup", "usergroup_id": "S1"}, {"type": "color", "value": "#fff"})), "@S1#fff"),
    (rich({"type": "rich_text_preformatted", "elements": [word("a\n```\nb")]}), "````\na\n```\nb\n````"),
    (rich({"type": "rich_text_quote", "elements": [word("q\nr")]}, section(word("s"))), "> q\n> r\n\ns"),
    (rich({"type": "rich_text_list", "style": "bullet", "elements": [section(word("a")), section(word("b"))]},
          {"type": "rich_text_list", "style": "ordered", "indent": 1, "offset": 3, "elements": [section(word("c"))]}),
     "- a\n- b\n  4. c"),
    (rich({"type": "rich_text_new", "elements": []}, section(word("a"))) | {"text": ""}, "a"),
    (rich({"type": "rich_text_new", "elements": []}, section(word("a"))) | {"text": "a *new*"}, "a **new**"),
    (rich(section({"type": "new"}, word("a"))), "a"),
    (rich(section({"type": "channel", "channel_id": "C8"}, word(" "), {"type": "channel", "channel_id": "C9"}, word(" "),
                  {"type": "usergroup", "usergroup_id": "S1"})) | {"text": "<#C8> <#C9|a&amp;b> <!subteam^S1|@crew>"},
     "#private-channel #a&b @crew"),
    ({"text": "A summary", "blocks": [
        {"type": "rich_text", "elements": [section(word("x"))]}, {"type": "divider"},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*y*"}},
        {"type": "table", "rows": [[{"type": "rich_text", "elements": [section(word("H", bold=True))]},
                                    {"type": "raw_text", "text": "1"}]]}]},
     "x\n\n---\n\n**y**\n\n**H** | 1"),
    ({"text": "a", "blocks": [{"type": "divider"}, {"type": "new"}]}, "a"),
    ({"text": "", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Head"}},
                             {"type": "section", "text": {"type": "mrkdwn", "text": "*b*"},
                              "fields": [{"type": "mrkdwn", "text": "f"}],
                              "accessory": {"type": "image", "image_url": "https://x.org/i.png", "alt_text": "i"}},
                             {"type": "divider"}, {"type": "actions", "elements": [{"type": "button"}]},
                             {"type": "context", "elements": [{"type": "plain_text", "text": "c"}]}]},
     "# Head\n\n**b**\n\nf\n\n[i](https://x.org/i.png)\n\n---\n\nc"),
    ({"text": "", "attachments": [{"pretext": "p", "title": "T", "title_link": "https://x.org", "text": "t",
                                   "fields": [{"title": "F", "value": "v"}], "footer": "f", "ts": "1700000000.5"}]},
     "p\n> [T](https://x.org)\n>\n> t\n>\n> **F:** v\n>\n> f <time:2023-11-14T22:13:20Z>"),
    ({"text": "<https://x.org/a>", "attachments": [{"from_url": "https://x.org/a", "title": "A"}]},
     "https://x.org/a"),
    ({"text": "", "attachments": [{"is_msg_unfurl": True, "author_name": "Ada", "text": "said",
                                   "from_url": "https://t.slack.com/archives/C1/p1700000000123456"}]},
     f"> **Ada:** [message]({PLACE})\n>\n> said"),
    ({"text": "", "attachments": [{"fallback": "only this", "ts": "NaN"}]}, "> only this"),
    ({"text": None, "blocks": "odd", "attachments": [None, 3]}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("message", "ours"), MESSAGES)
def test_blocks_and_attachments_become_our_markdown(message: dict[str, Any], ours: str) -> None:
    assert "".join(markdown.write(text_of(message, SlackNames()))) == ours


def shown(text: str) -> str:
    """The words that readers see, without blanks: where lines break is another question."""
    page = re.sub(r"<[^>]*>", "", render(text, CONTEXT).html)
    return re.sub(r"[\s\u200b]", "", html.unescape(page))


SIGNS = [
    "*",
    "**",
    "_",
    "~",
    "~~",
    "`",
    "```",
    "@",
    "#",
    "@**all**",
    "@*crew*",
    "#**dev**",
    "[",
    "]",
    "](",
    "(",
    ")",
    "<",
]
SIGNS += [
    ">",
    "&",
    "&copy;",
    "&#42;",
    ";",
    "$$",
    ":",
    ":smile:",
    ":)",
    "|",
    "---",
    "- ",
    "1. ",
    "+ ",
    "# ",
    "/me ",
    "<time:2023-01-01>",
]
SIGNS += [
    "http://x.org/",
    "https://",
    "example.org",
    "a@b.org",
    "www.",
    "word",
    "a",
    " ",
    "  ",
    "\t",
    "!",
    ".",
    ",",
    "'",
    '"',
    "\\",
    "31",
    "|31**",
]
WORDS = st.lists(st.sampled_from(SIGNS), max_size=7).map("".join)
STYLES = st.tuples(*[st.booleans()] * 3)
TEXT: st.SearchStrategy[Inline] = st.builds(lambda words, style: Text(words, *style), WORDS, STYLES)
CODE = st.builds(lambda words: Text(words, code=True), WORDS)
URLS = st.sampled_from(["https://x.org/a", "https://x.org/(b)*c*", "javascript:x"])
LINKS = st.builds(lambda url, words, style: Link(url, words, *style), URLS, WORDS, STYLES)
INLINES = st.lists(st.one_of(TEXT, TEXT, CODE, LINKS, st.just(Emoji("tada"))), max_size=5)


def said(inlines: list[Inline]) -> str:
    found = ""
    for one in inlines:
        if isinstance(one, Text):
            found += one.text
        elif isinstance(one, Emoji):
            found += f":{one.name}:"
        elif isinstance(one, Link):
            label = " ".join(one.label.split())
            odd = one.url.startswith("javascript")
            found += f"{label} ({one.url})" if odd and label and label != one.url else label or one.url
    return re.sub(r"[\s\u200b]", "", found)


@settings(max_examples=150, deadline=None)
@given(st.lists(INLINES, min_size=1, max_size=4))
def test_readers_see_the_same_words_and_no_mention_that_was_none(lines: list[list[Inline]]) -> None:
    inlines = [one for line in lines for one in [*line, Text("\n")]]
    [*texts] = markdown.write([Paragraph(inlines)])
    words = "".join(shown(text) for text in texts)
    assert words == said(inlines), texts
    for text in texts:
        rendered = render(text, CONTEXT)
        assert [rendered.mentioned_user_ids, rendered.mentioned_group_ids] == [set(), set()]
        assert not rendered.mentions_channel
        assert not re.search(r"stream|katex|<time", rendered.html), text
        assert not re.search(r"<(ul|ol|h\d|hr|table|blockquote|pre)\b", rendered.html), text


@settings(max_examples=50, deadline=None)
@given(INLINES, INLINES, WORDS)
def test_words_in_lists_quotes_and_code_are_the_same_too(one: list[Inline], other: list[Inline], code: str) -> None:
    blocks: list[Block] = [
        Items([Item(one), Item(other, 1, 3)]),
        Quote([Paragraph(other)]),
        CodeBlock(code),
        Heading(one),
    ]
    words = "".join(shown(text) for text in markdown.write(blocks))
    kept = words
    for part in (said(one), said(other), said(other), re.sub(r"[\s\u200b]", "", code), said(one)):
        place = kept.find(part)
        assert place >= 0, (part, kept, markdown.write(blocks))
        kept = kept[place + len(part) :]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*"*_~`<>@#|!:&;^ \n", "a", "U1", "&gt;", "&amp;", "http://x.org"])).map("".join))
def test_any_text_of_slack_can_be_read(text: str) -> None:
    for made in markdown.write(parse(text, SlackNames())):
        render(made, CONTEXT)


@pytest.mark.parametrize("text", ["word " * 4_000, "*" * 6_000, "x" * 20_000, "```" + "line\n" * 3_000 + "```",
                                  "&gt; " + "q " * 9_000, "a\n" * 6_000, "*b* _i_ " * 1_500])  # fmt: skip
def test_a_text_that_is_too_long_becomes_several_with_the_same_words(text: str) -> None:
    texts = markdown.write(parse(text, SlackNames()))
    assert len(texts) > 1 or len(text) < markdown.LIMIT
    assert all(0 < len(one) <= markdown.LIMIT for one in texts)
    whole = re.sub(r"[\s\u200b]", "", "".join(shown(one) for one in texts))
    expected = re.sub(r"[\s_*`]|&gt;", "", text) if "*b*" in text or text[0] in "`&" else re.sub(r"\s", "", text)
    assert whole == expected


@pytest.mark.parametrize("text", ["*a " * 13_000, "_" * 40_000, "<" * 40_000, ":" * 40_000, "`" * 40_000, "*_~" * 13_000,
                                  "&gt;" * 10_000, "*a* _" * 8_000, "a*" * 20_000, "_x *a _b* " * 5_000])  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_length(text: str) -> None:
    short = text[: len(text) // 4]
    assert len(short) > markdown.LIMIT  # both are split, which takes longer
    check_proportion(lambda part: markdown.write(parse(part, SlackNames())), short, text)


def test_quotations_in_quotations_are_texts_and_not_crumbs() -> None:
    blocks: list[Block] = [Paragraph([Text("seven words that belong to one line " * 80)]), CodeBlock("x = 1\ny = 2")]
    for _ in range(5):
        blocks = [Quote(blocks)]
    texts = markdown.write(blocks)
    assert all(len(text) <= markdown.LIMIT for text in texts)
    assert len(texts) == 1
    assert "x = 1" in texts[0]
    narrow: list[Block] = [Paragraph([Text("a\n" * 3000)])]
    for _ in range(5):
        narrow = [Quote(narrow)]
    assert all(len(text) <= markdown.LIMIT for text in markdown.write(narrow))


@pytest.mark.parametrize(
    "block",
    [
        Paragraph([Text("see "), Link("https://a.example/" + "x" * 9_500)]),
        Paragraph([Link("https://a.example/", "words " * 3_000)]),
        Paragraph([Link("https://a.example/" + "x" * 20_000, "label")]),
        CodeBlock("x = 1", language="l" * 9_900),
        CodeBlock("\n".join("`" * length for length in range(3, 5_000))),
        Quote([Quote([Paragraph([Link("https://a.example/" + "x" * 9_500)])])]),
    ],
    ids=["address", "label", "labelled", "language", "fences", "quoted"],
)
def test_whatever_cannot_be_taken_apart_makes_no_text_that_archives_cannot_hold(block: Block) -> None:
    texts = markdown.write([block, Paragraph([Text("the next one")])])
    assert all(0 < len(text) <= markdown.LIMIT for text in texts)
    assert texts[-1].endswith("the next one")


def test_many_files_of_a_long_message_take_time_in_proportion() -> None:
    def link_all(signs: str) -> None:
        paths = [file_path(f"{number:040x}"[::-1], f"{number}.txt") for number in range(len(signs))]
        files = [ShelvedFile(place, "", 1, path, path, 0, "") for place, path in enumerate(paths, 1)]
        texts = markdown.write([Paragraph([Link(url_of(path), "file")]) for path in paths])
        addresses = addresses_of(files)
        assert [id for text in texts for id in linked_in(text, addresses)] == [file.id for file in files]

    check_proportion(link_all, "x" * 1000, "x" * 4000)


def test_a_mention_is_one() -> None:
    [text] = markdown.write([Paragraph([Text("hi"), Mention(31), Text("s and "), Mention(7, silent=True)])])
    rendered = render(text, CONTEXT)
    assert rendered.mentioned_user_ids == {31}
    assert text == "hi @**|31**s and @_**|7**"
