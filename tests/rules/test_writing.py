"""What the server says is made from parts: a string in it is letters and nothing else, and nobody makes a text otherwise."""

import ast
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.content.markup import Channel, Context, MentionableGroup, MentionablePerson, render
from tertulia.content.markup.writing import (
    Aside,
    Bold,
    Bullet,
    ChannelLink,
    GroupMention,
    Mention,
    Part,
    Quotation,
    Text,
    quotation,
    write,
)

SOURCES = Path(__file__).parents[2] / "src" / "tertulia"
BITS = [
    *("@**all**", "@**topic**", "@_**Ann|5**", "@*team*", "#**tea**", "#**tea>x**", "[x](https://e.com)", "![a](/b)"),
    *(
        "`",
        "```",
        "~~~",
        "~~",
        "**",
        "*",
        "|",
        "|-|",
        "> ",
        "# ",
        "- ",
        "1. ",
        "/poll x",
        ":smile:",
        ":)",
        "<3",
        "$$x$$",
    ),
    *("https://e.com/a.png", "www.e.com", "e.com", "a@e.com", "bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpyT"),
    *("<time:2020-01-01>", "&lt;", "&#64;", "&", "<b>", "\\", "_", "(", ")", "[", "]", "!", ":", ".", "x", "é", " "),
]
names = st.lists(st.sampled_from(BITS), min_size=1, max_size=6).map("".join).filter(str.strip)


def context(*people: MentionablePerson, channels: tuple[Channel, ...] = ()) -> Context:
    return Context(
        realm_url="https://chat.example",
        people=(MentionablePerson(5, "Ann", True), *people),
        groups=(MentionableGroup(6, "team", "", True),),
        channels=(Channel(7, "tea"), *channels),
        translate_emoticons=True,
    )


def shown(html: str) -> str:
    """The letters of HTML that has no tags but these."""
    for tag in ("p", "strong", "ul", "li", "blockquote"):
        html = html.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    return unescape(html)


@pytest.mark.parametrize("around", [lambda name: name, Bold, lambda name: Bullet((name,)), Aside])
@given(name=names)
def test_a_string_is_shown_letter_by_letter_and_is_nothing_else(around: type[Bold], name: str) -> None:
    part: Part = around(name)
    rendered = render(write(("Said: ", part, " end")), context())
    letters = shown(rendered.html)
    assert "".join(name.split()) in "".join(letters.split())
    assert "<" not in letters.replace(name, "").replace(" ".join(name.split()), "") or "<" in name
    assert (rendered.mentions_channel, rendered.mentions_topic) == (False, False)
    assert not rendered.mentioned_user_ids
    assert not rendered.mentioned_group_ids
    assert not any(
        mark in rendered.html for mark in ("<a ", "<img", "<span", "<code", "<em", "<del", "<table", "<time")
    )


@given(name=names)
def test_a_string_that_begins_a_text_begins_no_block(name: str) -> None:
    rendered = render(write((name,)), context())
    assert rendered.html.startswith("<p>")
    assert rendered.html.count("<") == 2


@given(name=names, topic=names, is_known=st.booleans())
def test_mentions_and_links_name_whom_and_what_they_mean(name: str, topic: str, is_known: bool) -> None:
    people = [MentionablePerson(9, name, True)] if is_known else []
    channels = (Channel(8, name),) if is_known else ()
    text: Text = (Mention(9, name), " by ", GroupMention(name), " in ", ChannelLink(8, name, topic, 3), ".")
    rendered = render(write(text), context(*people, channels=channels))
    assert (rendered.mentions_channel, rendered.mentions_topic) == (False, False)
    assert not rendered.mentioned_user_ids
    assert not rendered.mentioned_group_ids
    links = [piece.partition('"')[0] for piece in rendered.html.split('href="')[1:]]
    assert all(link.startswith("/#narrow/channel/8-") for link in links), rendered.html
    if is_known:
        assert 'data-user-id="9"' in rendered.html
        assert links


@given(
    st.lists(st.sampled_from(["~~~", "~~~~", "```", "@**all**", "x", "~~~quote", "> a", "\r", "* a", " "]), max_size=12)
)
def test_nothing_ends_a_quotation(lines: list[str]) -> None:
    rendered = render(write(("Said:", Quotation("\n".join(lines)), "Behind it.")), context())
    assert rendered.html.endswith("</blockquote>\n<p>Behind it.</p>")
    assert not rendered.mentions_channel


def test_a_quotation_has_a_fence_that_is_not_in_it() -> None:
    assert quotation("a\n~~~\n ~~~~\u00a0\rb").startswith("~~~~~quote\n")


def test_a_person_whom_the_reader_does_not_see_is_not_named() -> None:
    text = (Mention(5, "Ann"), " and ", Bullet((Mention(6, "Ben"),)))
    assert write(text, hidden={5: "Unknown user"}) == "Unknown user and \n* @_**Ben|6**"


# Nobody glues texts together

TEXTS = ("organization.notices", "markup.writing")
PARTS = {"Notice", "Bold", "Bullet", "Aside", "Quotation", "Written", "Mention", "GroupMention", "ChannelLink"}


def glued_texts(source: str) -> list[int]:
    """The lines where a text of the bot is made by gluing: in what a notice or a part is made from, or a text returned."""
    if not any(module in source for module in TEXTS):
        return []
    tree = ast.parse(source)
    if not any(isinstance(node, ast.ImportFrom) and (node.module or "").endswith(TEXTS) for node in ast.walk(tree)):
        return []
    made: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PARTS:
            made += [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg != "topic")]
        if (
            isinstance(node, ast.FunctionDef)
            and isinstance(node.returns, ast.Name)
            and node.returns.id in ("Text", "Part")
        ):
            made += node.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Tuple):
            made.append(node.value)
    found = {inner for outer in made for inner in ast.walk(outer) if is_glue(inner)}
    return sorted(inner.lineno for inner in found if isinstance(inner, ast.expr))


def is_glue(node: ast.AST) -> bool:
    """An f-string, or a string with `%`, `+`, `format` or `join`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("format", "format_map", "join")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
        return any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right))
    return isinstance(node, ast.JoinedStr)


def test_texts_of_the_bot_are_made_from_parts() -> None:
    home = SOURCES / "content" / "markup" / "writing.py"
    found = [
        f"{path.relative_to(SOURCES)}:{line}"
        for path in sorted(SOURCES.rglob("*.py"))
        if path != home
        for line in glued_texts(path.read_text())
    ]
    assert not found, f"write parts (content/markup/writing.py) instead of gluing strings: {found}"


@pytest.mark.parametrize(
    "line",
    [
        'Notice((f"{who} left.",), user_id=5)',
        'Notice(("%s left." % who,), user_id=5)',
        'Notice(("{} left.".format(who),), user_id=5)',
        'Notice((who + " left.",), user_id=5)',
        'text = (who, f" left {place}.")',
        'def said(who: str) -> Text:\n    return (f"{who} left.",)',
    ],
)
def test_gluing_is_found(line: str) -> None:
    assert glued_texts(f"from tertulia.organization.notices import Notice\n{line}\n")
