"""Texts that nobody would write, rendered: safe HTML every time, nothing for the last gate to take out, and soon.

bin/fuzz markup --minutes 60 --seed 5
"""

import sys
import time
from collections.abc import Sequence
from random import Random

from tertulia.content.markup.model import (
    Channel,
    Context,
    CustomEmoji,
    Linkifier,
    MentionableGroup,
    MentionablePerson,
    TooLarge,
    Upload,
)
from tertulia.content.markup.page import Page
from tertulia.content.markup.renderer import render, written
from tertulia.content.markup.sanitizer import sanitized
from tests.fuzz.for_minutes import for_minutes
from tests.fuzz.values import HOSTILE_TEXTS, LETTERS
from tests.rules.markup_page import Reader

MOST_SECONDS = 2.0
"""Of CPU, for one text of at most 10,000 characters; most take about a millisecond."""
MOST_CHARACTERS = 10_000
_THUMBNAIL = "/user_uploads/thumbnail/1/ab/cat.png/840x560.webp"
CONTEXT = Context(
    realm_id=1,
    realm_url="https://chat.example.com",
    picture_key="key",
    people=(MentionablePerson(1, "Ana"), MentionablePerson(2, "Bo **b**"), MentionablePerson(3, "C|3")),
    groups=(MentionableGroup(4, "cooks"), MentionableGroup(5, "role:everyone", "everyone")),
    channels=(Channel(6, "kitchen"), Channel(7, "a>b")),
    topics={(6, "tea"): 9},
    custom_emoji=(CustomEmoji("soup", "/user_avatars/1/emoji/soup.png"),),
    linkifiers=(Linkifier(r"#(?P<id>[0-9]+)", "https://bugs.example.com/{id}"),),
    uploads={"1/ab/cat.png": Upload("1/ab/cat.png", "image/png", 10, 10, _THUMBNAIL)},
)
PIECES = (
    *"*_~`>#-+|[](){}<>!@:\\$&;=\"'\n\n\n\t ",
    *(
        "**",
        "~~",
        "``",
        "```",
        "~~~",
        "$$",
        "```math\n",
        "```quote\n",
        "```spoiler x\n",
        "```python\n",
        "\n```\n",
        "> ",
    ),
    *("1. ", "* ", "  - ", "    ", "| a | b |\n|---|:-:|\n", "@**Ana**", "@_**Ana|1**", "@*cooks*", "@**all**", "#123"),
    *("#**kitchen**", "#**kitchen>tea**", "#**kitchen>tea@9**", ":soup:", ":tea:", "<time:2026-01-01T00:00:00Z>"),
    *(
        "https://example.com/a.png",
        "https://example.com/a.mp4",
        "![a](https://example.com/a.mp3)",
        "![a](//example.com/a.mp3)",
        "[a](https://example.com)",
        "![](https://example.com/b.jpg)",
        "ftp://x",
        "a@b.example",
    ),
    *(
        "[cat.png](/user_uploads/1/ab/cat.png)",
        "www.example.com",
        "/me ",
        "/poll ",
        "javascript:",
        "data:text/html,",
        "&lt;",
    ),
    *("<b>", "<!--", "-->", "<a href='x'>", "\u202e", "\u200d", "\x00", "\ufffd", "a" * 200, "9" * 60),
)


def make(random: Random) -> str:
    """Pieces in a row; some repeated often, some lines shifted to the right."""
    parts: list[str] = []
    for _ in range(random.choice((2, 5, 10, 30, 100))):
        kind = random.random()
        if kind < 0.7:
            piece = random.choice(PIECES)
            parts.append(
                piece * random.choice((1, 1, 1, 1, 2, 3, 50)) if kind < 0.65 else piece * random.randrange(400)
            )
        elif kind < 0.9:
            parts.append("".join(random.choices(LETTERS, k=random.randrange(1, 12))))
        else:
            parts.append(random.choice(HOSTILE_TEXTS))
    return "".join(parts).replace("\0", "")[:MOST_CHARACTERS]  # who sends it is refused before


def check(text: str) -> None:
    began = time.process_time()
    try:
        rendered = render(text, CONTEXT)
    except TooLarge:
        rendered = None
    took = time.process_time() - began
    assert took < MOST_SECONDS, f"{took:.1f} s of CPU"
    if rendered is not None:
        Reader(rendered.html)
        html = written(text, Page(CONTEXT))
        assert Reader(sanitized(html)).parts == Reader(html).parts, "the last gate had something to do"


def main(arguments: Sequence[str]) -> int:
    return for_minutes("markup", __doc__ or "", arguments, make, check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
