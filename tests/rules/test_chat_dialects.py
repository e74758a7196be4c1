"""Markdown of Rocket.Chat and Discord: ours shows the same words, and mentions nobody who was not mentioned."""

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tertulia.archives.converting import markdown
from tertulia.archives.converting.discord import text as discord
from tertulia.archives.converting.rocketchat import text as rocketchat
from tertulia.archives.converting.tree import Block
from tertulia.content.markup import render
from tests.harness.growth import check_proportion
from tests.rules.test_converted_texts import CONTEXT, shown


class RocketNames:
    """A message that mentions one person and everybody, and links one channel."""

    def mentioned(self, handle: str) -> "int | str | None":
        known: dict[str, int | str] = {"ada": 31, "all": "all"}
        return known.get(handle)

    def channel(self, name: str) -> "tuple[int, str] | None":
        return {"dev": (9, "dev")}.get(name)

    def message(self, id: str) -> "tuple[int, int] | None":
        return {"m1": (9, 1700000000123456)}.get(id)

    def custom_emoji(self, name: str) -> str | None:
        return {"Party.Cat": "party_cat", "ours": "ours"}.get(name)


class NoNames:
    """A message that refers to nothing."""

    def mentioned(self, handle: str) -> "int | str | None":
        del handle
        return None

    def channel(self, name: str) -> "tuple[int, str] | None":
        del name
        return None

    def message(self, id: str) -> "tuple[int, int] | None":
        del id
        return None

    def custom_emoji(self, name: str) -> str | None:
        del name
        return None


PLACE = "\x009/1700000000123456/https://x.org/channel/devmsg=m1\x00"
ROCKETCHAT = [
    ("plain words", "plain words"),
    ("*b* **b** _i_ __i__ ~s~ ~~s~~ `c`", "**b** **b** *i* *i* ~~s~~ ~~s~~ `c`"),
    ("*_x_* _*x*_", "***x*** ***x***"),
    ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
    ("a_b_ c*d*", "a_b_ c&#42;d&#42;"),
    ("*two\nlines*", "&#42;two\nlines&#42;"),
    ("*open _and* shut_", "**open _and** shut_"),
    (r"\*not bold\* \_nor\_", "&#42;not bold&#42; _nor_"),
    ("`*c* @ada`", "`*c* @ada`"),
    ("```js\nx = 1\n```", "```js\nx = 1\n```"),
    ("a ```x``` b", "a\n```\nx\n```\nb"),
    ("```spoiler\nx\n```", "```\nx\n```"),
    ("> q\n> r\nafter", "> q\n> r\n\nafter"),
    ("# Head\nbody", "# Head\n\nbody"),
    ("- a\n- *b*\n1. c", "- a\n- **b**\n1. c"),
    ("https://x.org/a_b_c, and", "[https://x.org/a_b_c](https://x.org/a_b_c), and"),
    ("*https://x.org*", "**[https://x.org](https://x.org)**"),
    ("[l *x*](https://x.org/(a))", "[l &#42;x&#42;](https://x.org/%28a%29)"),
    ("[l](javascript:x)", "[l&#93;(javascript:x)"),
    ("[that](https://x.org/channel/dev?msg=m1)", f"[that]({PLACE.replace('devmsg', 'dev?msg')})"),
    ("@ada @ada. (@ada) @bob a@ada @all @here", "@**|31** @**|31**. (@**|31**) @bob a@ada @**all** @here"),
    ("_@ada_ #dev #dev. #other", "@**|31** #**dev** #**dev**. #other"),
    (":smile: :ours: :nothing: 10:30:20", ":smile: :ours: :nothing: 10:30:20"),
    ("@**all** &copy; $$x$$", "&#64;**all** &amp;copy; &#36;&#36;x&#36;&#36;"),
    ("/poll x", "&#47;poll x"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("theirs", "ours"), ROCKETCHAT)
def test_texts_of_rocketchat_become_our_markdown(theirs: str, ours: str) -> None:
    assert "".join(markdown.write(rocketchat.parse(theirs, RocketNames()))) == ours


class DiscordNames:
    """A server with one person, one role, one channel, one message and one emoji."""

    def person(self, key: str) -> int:
        return {"1": 31}.get(key, 7)

    def group(self, key: str) -> str | None:
        return {"2": "crew"}.get(key)

    def channel(self, key: str) -> "tuple[int, str] | str":
        return (9, "dev") if key == "3" else "#unknown"

    def message(self, key: str) -> "tuple[int, int] | None":
        return (9, 1700000000123456) if key == "4" else None

    def custom_emoji(self, key: str) -> str | None:
        return {"5": "party_cat"}.get(key)


LINKED = "https://discord.com/channels/6/3/4"
DISCORD = [
    ("plain words", "plain words"),
    ("*i* _i_ **b** __u__ ~~s~~ `c` ``c``", "*i* *i* **b** u ~~s~~ `c` `c`"),
    ("***x*** **b *i*** *i **b***", "***x*** **b** ***i*** *i* ***b***"),
    ("**two\nlines**", "**two**\n**lines**"),
    ("snake_case_name 2*3*4", "snake_case_name 2*3*4"),
    ("*open **and* shut**", "*open &#42;&#42;and* shut&#42;&#42;"),
    (r"\*x\* \_x\_ \@everyone", "&#42;x&#42; _x_ @everyone"),
    ("a ||b **c**|| d", "a\n```spoiler\nb **c**\n```\nd"),
    ("||only", "||only"),
    ("> q\n>not\n>>> r\ns", "> q\n\n&gt;not\n> r\n> s"),
    ("# Head\n-# small\n- a\n  - b", "# Head\n\nsmall\n- a\n  - b"),
    ("- hidden ||x||", "&#45; hidden\n```spoiler\nx\n```"),
    ("```py\nx\n```", "```py\nx\n```"),
    ("<https://x.org/_a_> https://x.org/_a_b.", "https://x.org/_a_ [https://x.org/_a_b](https://x.org/_a_b)."),
    ("[l](https://x.org)", "[l](https://x.org)"),
    ("~~**[l](https://x.org)**~~", "~~**[l](https://x.org)**~~"),
    (f"[that]({LINKED})", f"[that](\x009/1700000000123456/{LINKED}\x00)"),
    ("<@1> <@!1>, <@&2> <@&9> <#3> <#9>", "@**|31** @**|31**, @*crew* @role #**dev** #unknown"),
    ("<:cat:5> <a:cat:5> <:cat:9>", ":party_cat: :party_cat: &#58;cat:"),
    ("<t:1700000000> <t:1700000000:R> </play:1>", "<time:2023-11-14T22:13:20Z> <time:2023-11-14T22:13:20Z> /play"),
    ("@everyone @here a@here @heres", "@**all** @**all** a@here @heres"),
    ("`<@1> @everyone`", "`<@1> @everyone`"),
    ("@**all** :smile: /poll", "&#64;**all** &#58;smile: /poll"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("theirs", "ours"), DISCORD)
def test_texts_of_discord_become_our_markdown(theirs: str, ours: str) -> None:
    assert "".join(markdown.write(discord.parse(theirs, DiscordNames()))) == ours


SIGNS = [
    "*", "**", "***", "_", "__", "~", "~~", "||", "`", "``", "```", "\\", "@", "#", "@everyone", "@**all**", "@*crew*",
    "#**dev**", "[", "]", "](", "(", ")", "<", ">", "> ", ">>> ", "&copy;", "$$", ":", ":smile:", "|", "---", "- ", "1. ",
    "# ", "-# ", "/me ", "<time:2023-01-01>", "https://x.org ", "[γάμα](https://x.org)", "<t:x>", "<@x>", " ", "\n", "|31**",
]  # fmt: skip
WORDS = ["αλφα", "βήτα", "δ"]
TEXTS = st.lists(st.sampled_from(SIGNS + WORDS * 5), max_size=14).map("".join)
Parse = Callable[[str], list[Block]]
NOBODY: list[Parse] = [
    lambda text: rocketchat.parse(text, NoNames()),
    lambda text: discord.parse(text, DiscordNames()),
]


@pytest.mark.parametrize("parse", NOBODY)
@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_readers_see_the_same_words_and_nobody_is_mentioned(parse: Parse, text: str) -> None:
    assume("```" not in text or not re.search(r"```[^\s`]+\n", text))  # what stands there is a language
    assume("@everyone" not in text)
    texts = markdown.write(parse(text))
    words = re.findall(r"[\u0370-\u03ff]", "".join(shown(one) for one in texts))
    assert words == re.findall(r"[\u0370-\u03ff]", text), texts
    for one in texts:
        rendered = render(one, CONTEXT)
        assert [rendered.mentioned_user_ids, rendered.mentioned_group_ids] == [set(), set()], one
        assert not rendered.mentions_channel, one
        assert "<time" not in rendered.html


LONG = [
    "*a " * 13_000,
    "_" * 40_000,
    "<" * 40_000,
    ":a" * 20_000,
    "`" * 40_000,
    "*_~" * 13_000,
    "[" * 40_000,
    "@a" * 20_000,
]
LONG += [
    "||a" * 13_000,
    "> " * 20_000,
    "[a](https://x.org/(" * 2_000,
    "https://" + "*" * 40_000,
    "```a" * 10_000,
    "\\" * 40_000,
]
LONG += ["<@" * 20_000, "- a\n" * 10_000, "***a" * 10_000, "#" * 40_000]


@pytest.mark.parametrize("parse", NOBODY)
@pytest.mark.parametrize("text", LONG)
def test_reading_takes_time_in_proportion_to_the_length(parse: Parse, text: str) -> None:
    check_proportion(parse, text[: len(text) // 8], text[: len(text) // 2])
