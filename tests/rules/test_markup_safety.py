"""Whatever somebody writes: no exception, no unsafe HTML, time in proportion to the length."""

import asyncio
import json
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.lexers import get_all_lexers

from tertulia.content.markup import (
    Channel,
    Context,
    CustomEmoji,
    Linkifier,
    MentionableGroup,
    MentionablePerson,
    TooLarge,
    Upload,
    render,
    render_description,
    topic_links,
    wanted,
)
from tertulia.content.markup.limits import MAX_FILLED_CELLS
from tertulia.content.markup.page import Page
from tertulia.content.markup.renderer import written
from tertulia.content.markup.sanitizer import sanitized
from tertulia.content.markup.time_limit import within
from tests.harness.growth import check_proportion
from tests.rules.markup_page import read

NASTY_NAME = "<b onclick=x>&\"'`*_[x](javascript:1)"
CONTEXT = Context(
    realm_id=2,
    realm_url="https://chat.example",
    picture_key="key",
    people=(MentionablePerson(31, "Ada"), MentionablePerson(32, NASTY_NAME)),
    groups=(MentionableGroup(17, "crew"), MentionableGroup(18, "nasty", NASTY_NAME)),
    channels=(Channel(9, "dev"), Channel(10, "<i>x</i>")),
    topics={(9, "a"): 5},
    custom_emoji=(CustomEmoji("parrot", '/x.png"onerror="x'),),
    linkifiers=(
        Linkifier(r"T(?P<id>\d+)", "https://t.example/{id}"),
        Linkifier(r"J(?P<id>\S+)", "javascript:{id}"),
        Linkifier(r"Q(?P<id>[^ ]*)", "https://q.example/{+id}"),
    ),
    uploads={
        "2/ab/x.png": Upload("2/ab/x.png", "image/png", 10, 10, "/thumb"),
        "2/ab/v": Upload("2/ab/v", "video/mp4"),
    },
    translate_emoticons=True,
)

FRAGMENTS = [
    *(
        "*",
        "**",
        "***",
        "~~",
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        " ",
        "    ",
        "\t",
        ">",
        "> ",
        "- ",
        "* ",
        "1. ",
        "# ",
        "|",
    ),
    *(
        "|-|-|",
        "---",
        "[",
        "]",
        "(",
        ")",
        "](",
        "![",
        "<",
        "&",
        "&lt;",
        "&#x3c;",
        "&copy;",
        "\\",
        '"',
        "'",
        "$$",
        "x^2",
        "$",
    ),
    *(
        "@**Ada**",
        "@**|32**",
        "@_**Ada**",
        "@*crew*",
        "@_*nasty*",
        "@**all**",
        "@**topic**",
        "@",
        "#**dev**",
        "#**dev>a**",
    ),
    *(
        "#**<i>x</i>>b@7**",
        "#**dev>**",
        ":smile:",
        ":parrot:",
        ":tertulia:",
        ":",
        ":)",
        "<3",
        "😄",
        "👨‍👩‍👧",
        "❤️",
        "🇩🇪",
        "1️⃣",
    ),
    *(
        "<time:2026-01-01T10:00>",
        "<time:",
        "T12",
        "Jalert(1)",
        "Q\"onclick='x'",
        "https://a.example/(x)",
        "a.example.org/x",
    ),
    *(
        "me@a.example.org",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://chat.example/#narrow",
        "/user_uploads/2/ab/x.png",
    ),
    *(
        "[](/user_uploads/2/ab/v)",
        "https://a.example/x.png",
        "https://youtu.be/abcdefghijk",
        "https://a.example/x.mp4",
        "![x](https://a.example/x.mp3)",
        "![x](//a.example/x.mp3)",
        "![x](/\\a.example/x.mp3)",
        "![x](/user_uploads/2/ab/x.mp3)",
        "<script>alert(1)</script>",
    ),
    *(
        "<img src=x onerror=alert(1)>",
        "</p>",
        "<!--",
        "-->",
        "<svg/onload=x>",
        "```quote\n",
        "```spoiler x\n",
        "```math\n",
    ),
    *(
        "```py\n",
        "```html\n",
        "~~~js\n",
        "\u202e",
        "\u00a0",
        "\ufe0f",
        "\u200d",
        "\x0b",
        "\x1f",
        "\ud7ff",
        "\uffff",
        "a",
        "word",
    ),
]
# Null bytes are refused before a text gets here.
characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
texts = st.one_of(st.text(characters, max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join))


@settings(max_examples=500)
@given(texts)
def test_any_text_becomes_safe_html_that_the_gate_leaves_alone(content: str) -> None:
    html = render(content, CONTEXT).html
    parts = read(html)
    before_the_gate = read(written(content, Page(CONTEXT)))
    assert parts == before_the_gate


@settings(max_examples=300)
@given(texts)
def test_descriptions_and_topics_stand_any_text_too(content: str) -> None:
    read(render_description(content, CONTEXT))
    wanted(content)
    for link in topic_links(content[:60], CONTEXT.linkifiers):
        assert link.text in content


@settings(max_examples=400)
@given(st.text(alphabet="abT1 .,:;?()-+/…\n", max_size=30))
def test_the_short_way_for_plain_text_leads_to_the_same_html(content: str) -> None:
    content = content.strip()
    assert render(content, CONTEXT).html == sanitized(written(content, Page(CONTEXT)))


BEGINNINGS = ["", "> ", ">> ", "- ", "  - ", "    - ", "1. ", "   ", "    ", "      ", "# ", "\t", "> - ", "- > "]
FENCES = ["```", "~~~", "````", "```quote", "~~~spoiler", "> ```", "  ```", "- ```", "", "> ", "---"]


@settings(max_examples=500)
@given(
    st.lists(st.one_of(st.sampled_from(BEGINNINGS), st.sampled_from(FENCES).map(lambda line: line + "\n")), max_size=25)
)
def test_no_line_is_ever_lost(beginnings: list[str]) -> None:
    """However lists, quotes and fences are mixed: every word is in the HTML, once and in order."""
    words = [f"word{number}" for number in range(len(beginnings))]
    lines = [
        beginning.rstrip("\n") if beginning.endswith("\n") else beginning + word
        for beginning, word in zip(beginnings, words, strict=True)
    ]
    written_words = [word for beginning, word in zip(beginnings, words, strict=True) if not beginning.endswith("\n")]
    shown = " ".join(part[1] for part in read(render("\n".join(lines), CONTEXT).html) if part[0] == "text")
    assert re.findall(r"word\d+", shown) == written_words


ATTACKS = [
    "<script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](<javascript:alert(1)>)",
    '[x](https://a.example" onclick="alert(1))',
    '[x](https://a.example "t" onclick="alert(1)")',
    '[x](https://a.example "<script>")',
    "[x](https://a.example\x00javascript:)",
    'https://a.example/"onmouseover="alert(1)',
    "https://a.example/<script>",
    '![x" onerror="alert(1)](https://a.example/a.mp3)',
    "`<img src=x onerror=alert(1)>`",
    '```<img src=x>"\nx\n```',
    "```py\n<script>\n```",
    '```"onclick=\nx\n```',
    "```spoiler <script>alert(1)</script>\n<b>\n```",
    "|<script>|<b>|\n|-|-|\n|<i>|x|",
    "# <script>alert(1)</script>",
    "$$</annotation><script>alert(1)</script>$$",
    "```math\n</math><script>alert(1)</script>\n```",
    '<time:"><script>alert(1)</script>>',
    "@**|32** @_*nasty* #**<i>x</i>** :parrot:",
    "[<script>alert(1)</script>](https://a.example)",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "[x](//evil.example)",
    "[x](http://)",
    "[x](https://a.example:99999/)",
    "[x](\u202e:) [x](\ud7ff) [x](http://1.2.3.999) [x](http://xn--) [x](ssh://a%) [x](http://[::1]) [x](http://[::g])",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "Jalert(1) Q\"onclick='x'",
    "[[x](https://a.example)](javascript:x)",
    "[x](https://a.example)(javascript:x)",
    "**[x*](javascript:*)**",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_known_attacks_end_as_text_or_harmless_links(attack: str) -> None:
    html = render(attack, CONTEXT).html
    for part in read(html):
        assert part[0] != "a" or any(value.startswith("href=") for value in part[1:])
        assert not any(re.match(r"(on\w+|srcdoc|formaction)=", value) for value in part[1:])
        assert not any(re.search(r"=\s*(javascript|data|vbscript):", value, re.IGNORECASE) for value in part[1:])


def test_html_out_of_all_proportion_is_refused() -> None:
    with pytest.raises(TooLarge):
        render("😄" * 20_000)


@pytest.mark.parametrize(
    "text", ["(" * 9_900, "&" * 10_000, "语" * 10_000, "😄" * 10_000, "```py\n" + "(" * 9_900 + "\n```"]
)
def test_html_of_the_longest_message_fits_into_an_event(text: str) -> None:
    html = render(text).html
    assert len(json.dumps(html, ensure_ascii=False).encode()) < 1_500_000


Family = Callable[[int], str]
FAMILIES: dict[str, Family] = {
    "words": lambda n: "hello world " * (n // 12),
    "one word": lambda n: "a" * n,
    "nested quotes": lambda n: ">" * n,
    "quotes of many depths": lambda n: "\n".join(">" * (i % 30) + " a" for i in range(n // 17)),
    "bare quotes": lambda n: ">\n" * (n // 2),
    "lazy quotes": lambda n: "> a\n" + "b\n" * (n // 2),
    "lazy lines after headers": lambda n: "> # a\nb\n" * (n // 8),
    "lazy lines after fences": lambda n: "> ```\nb\n" * (n // 8),
    "lazy lines in containers": lambda n: "```spoiler x\n</p>```math\n>" * (n // 26),
    "open brackets": lambda n: "[" * n,
    "bracket pairs": lambda n: "[]" * (n // 2),
    "open links": lambda n: "[a](" * (n // 4),
    "open angle links": lambda n: "[a](<b" * (n // 6),
    "open titles": lambda n: '[a](b "' * (n // 7),
    "spaces in links": lambda n: "[a](b" + " " * n + "x",
    "nested links": lambda n: "[" * (n // 10) + "a" + "](x.org)" * (n // 10),
    "stars": lambda n: "*" * n,
    "open stars": lambda n: "*a " * (n // 3),
    "open triple stars": lambda n: "***a " * (n // 10) + "b* " * (n // 6),
    "stars then tildes": lambda n: "*a " * (n // 6) + "~~b~~ " * (n // 12),
    "crossing emphasis": lambda n: "*a **b* c** " * (n // 12),
    "backticks that grow": lambda n: "".join("`" * i + "a" for i in range(int((2 * n) ** 0.5))),
    "unpaired backticks": lambda n: "`a``" * (n // 4),
    "fences": lambda n: "```\n" * (n // 4),
    "fences that grow": lambda n: "\n".join("`" * (3 + i) + "quote" for i in range(int((2 * n) ** 0.5))),
    "open quote fences": lambda n: "```quote\na\n" * (n // 10),
    "mixed containers": lambda n: "```spoiler x\n~~~quote\n" * (n // 22),
    "wide tables": lambda n: "|" + "a|" * (n // 4) + "\n|" + "-|" * (n // 4),
    "tables with short rows": lambda n: "|" + "a|" * 50 + "\n|" + "-|" * 50 + "\n" + "|b\n" * (n // 3),
    "many tables": lambda n: "a|b\n-|-\n" * (n // 8),
    "dashes and spaces": lambda n: "a|b\n-" + " " * n + "-|-",
    "backticks in tables": lambda n: "a|b\n-|-\n" + "\\a`" * (n // 3),
    "lists in one line": lambda n: "- " * (n // 2) + "a",
    "lists of many depths": lambda n: "\n".join("  " * (i % 40) + "- a" for i in range(n // 43)),
    "loose lists": lambda n: "- a\n\n" * (n // 5),
    "lazy lists": lambda n: "- a\nb\n" * (n // 6),
    "mentions": lambda n: "@**Ada** " * (n // 9),
    "open mentions": lambda n: "@**Ada " * (n // 7),
    "at signs": lambda n: "a@" * (n // 2),
    "dots": lambda n: "a." * (n // 2),
    "hosts": lambda n: "a.com " * (n // 6),
    "addresses": lambda n: "http://a.b " * (n // 11),
    "parentheses in addresses": lambda n: "http://a.b/((((((( " * (n // 19),
    "schemes": lambda n: "http:" * (n // 5),
    "open channel links": lambda n: "#**dev>a" * (n // 8),
    "open times": lambda n: "<time:" * (n // 6),
    "open TeX": lambda n: "$$a " * (n // 4),
    "escaped dollars": lambda n: "\\$$" * (n // 3),
    "colons": lambda n: ":a" * (n // 2),
    "joiners": lambda n: "👨‍" * (n // 2),
    "regional letters": lambda n: "🇩" * n,
    "tags": lambda n: "🏴" + "\U000e0067" * n,
    "spaces": lambda n: ("a" + " " * (n // 20)) * 20,
    "spaces before text": lambda n: " " * n + "]",
    "spaces in code": lambda n: "```\n" + " " * n + "x\n```",
    "blank lines in code": lambda n: "```\nx" + "\n" * n + "x\n```",
    "spaces and lines": lambda n: " \n" * (n // 2) + "x",
    "hashes": lambda n: "# a" + " #" * (n // 2),
    "almost a rule": lambda n: "* " * (n // 2) + "x",
    "linkifiers": lambda n: "T1 " * (n // 3),
    "greedy linkifiers": lambda n: "QQ" * (n // 2),
    "pictures": lambda n: "http://a.b/c.png " * (n // 17),
    "newlines": lambda n: "a\n" * (n // 2),
}
ROOMY = Context(
    people=CONTEXT.people,
    channels=CONTEXT.channels,
    linkifiers=CONTEXT.linkifiers,
    translate_emoticons=True,
    max_html_bytes=10**9,
)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_time_grows_with_the_length_and_not_faster(family: Family) -> None:
    check_proportion(lambda text: render(text, ROOMY), family(2_500), family(10_000))


def test_tables_that_do_not_fit_are_counted_once() -> None:
    headers, rows = "a|b\n-|-\n" * 749, "x\n" * 2003
    started = time.thread_time()
    html = render(headers + rows).html
    assert time.thread_time() - started < 1
    assert "<table>" not in html
    assert "<table>" in render(headers + rows + "\n\na|b\n-|-\nc|d").html


def test_many_tables_with_short_rows_have_no_more_empty_cells_than_one() -> None:
    table = "|".join("a" * 35) + "\n" + "|".join("-" * 35) + "\n" + "b\n" * 58 + "\n"
    html = render(table * 38).html
    assert "<table>" in html
    assert html.count("<td></td>") <= MAX_FILLED_CELLS


def test_lines_below_quotes_are_read_once_however_deep_the_quotes_are() -> None:
    def seconds(depth: int) -> float:
        started = time.thread_time()
        render(">" * depth + "a\n" + "<\n" * 4_900)
        return time.thread_time() - started

    ratios = [seconds(20) / seconds(1) for _ in range(4)]
    assert min(ratios) < 3


HOSTILE_CODE = {
    "c": "\n",
    "csharp": "a\n",
    "java": "\n",
    "python": "'",
    "html": "<a ",
    "js": "/",
    "php": "$a",
    "ruby": "<<A\n",
    "bash": "${",
    "rust": '"\\',
    "go": "`",
    "sql": "/*",
    "yaml": "a:",
    "perl": "s/",
    "tex": "\\",
}


@pytest.mark.parametrize("language", HOSTILE_CODE)
def test_hostile_code_stays_plain_in_place_of_holding_up_the_server(language: str) -> None:
    code = "x " + (HOSTILE_CODE[language] * 10_000)[:9_000] + "!"
    start = time.thread_time()
    render(f"~~~{language}\n{code}\n~~~")
    assert time.thread_time() - start < 1


def test_one_text_has_few_lexers_loaded() -> None:
    languages = [aliases[0] for _, aliases, _, _ in get_all_lexers(plugins=False) if aliases]
    for part in range(0, len(languages), 600):
        started = time.thread_time()
        html = render("\n".join(f"~~~{language}\n1\n~~~" for language in languages[part : part + 600])).html
        assert time.thread_time() - started < 1
        assert html.count("data-code-language=") == len(languages[part : part + 600])
    assert 'data-code-language="Python"' in render("~~~py\n1\n~~~").html


def test_ordinary_code_of_full_length_is_coloured() -> None:
    code = "def add(first, second):\n    return first + second * 'text'\n" * 150
    assert len(code) < 10_000
    assert '<span class="k">return</span>' in render(f"```python\n{code}```").html


def test_the_time_limit_leaves_no_trace() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    assert within(0.05, lambda: re.match(r"(a*)*b", "a" * 40)) is None
    assert within(5, lambda: "done") == "done"
    assert within(0, lambda: "no time left") is None
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_the_time_limit_holds_inside_an_event_loop() -> None:
    async def both() -> str:
        html = render("~~~c\nx " + "\n" * 9_000 + "!\n~~~").html
        await asyncio.sleep(0)
        return html

    assert "<span class=" not in uvloop.run(both())


def test_in_another_thread_code_stays_plain() -> None:
    with ThreadPoolExecutor(1) as threads:
        html = threads.submit(render, "```python\nx = 1\n```").result().html
    assert 'data-code-language="Python"' in html
    assert "<span class=" not in html


def test_too_many_pictures_have_no_previews_at_all() -> None:
    some = render("\n".join(f"https://a.example/{number}.png" for number in range(24)), CONTEXT)
    many = render("\n".join(f"https://a.example/{number}.png" for number in range(25)), CONTEXT)
    assert some.html.count("<img") == 24
    assert "<img" not in many.html
    assert many.html.count("<a ") == len(many.links) == 25
    assert not many.has_image
    assert (len(some.remote), len(many.remote)) == (24, 0)
