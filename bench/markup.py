"""bin/bench markup: microseconds to render a message, beside plain markdown-it-py (CommonMark, tables, line breaks; no mentions,
links found by themselves, emoji, colours or sanitizer)."""

import statistics
import time
from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt

from bench.report import Figure, Report
from tertulia.content.markup import Context, render, wanted
from tests.rules.markup_corpus import CONTEXT, cases

LONG = (
    "A longer message without any markup at all, that goes on for a while and fills three lines in the window of a reader who"
    " has a narrow phone and reads it on the train to work, as many people do in the morning when they catch up with the night."
)
# What people write in a working day, roughly in the proportion in which they do.
TYPICAL = [
    "ok",
    "Thanks!",
    "Good morning everybody, shall we meet at ten?",
    "I will look at it after lunch.",
    "Sounds good to me, let us do that and see what the others say on Thursday",
    "Yes",
    "+1",
    "no idea, sorry :(",
    ":+1:",
    "😄",
    "@**Ada Byron** can you have a look?",
    "@**Ada Byron** it fails **again**, see https://ci.example/build/4711 :cry:",
    "The page is at https://wiki.example/Deploy#rollback, please read it first.",
    "Did you mean `find_all()` or `find_first()`?",
    "Fixed in T4711, deployed to staging.",
    "See #**dev>old bugs** for the discussion we had last week.",
    "I think so.\n\nBut let me ask @*crew* before we decide; it is *their* server.",
    "Agenda:\n- numbers of last week\n- the new office\n- anything else",
    "1. pull\n2. build\n3. restart",
    "> shall we ship it?\n\nYes, please.",
    "@_**Ada Byron** [said](#narrow/channel/9-dev/topic/x/near/12):\n```quote\nthe disk is full\n```\nOn it.",
    '```\nTraceback (most recent call last):\n  File "x.py", line 3\nValueError: no\n```',
    LONG,
    "Lunch at <time:2026-03-01T12:00:00+01:00>? I would go to the *new* place :tada:",
]
CODE = '```python\ndef greet(name: str) -> str:\n    """Say hello."""\n    return f"Hello, {name}!"\n```'
Render = Callable[[str, Context], object]


def measure(*, quick: bool) -> Report:
    """One process, no server: the renderer alone."""
    rounds = 20 if quick else 200
    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])
    corpus = [(case.content, case.context) for case in cases()]
    typical = [(content, CONTEXT) for content in TYPICAL]
    groups = {
        "plain sentence": [(TYPICAL[2], CONTEXT)],
        "typical message": typical,
        "corpus": corpus,
        "highlighted code, 4 lines": [(CODE, CONTEXT)],
        "10,000 characters, mixed": [("\n\n".join(TYPICAL * 10)[:10_000], CONTEXT)],
    }
    figures = [
        Figure(
            f"{name}, p50",
            median(messages, render, rounds),
            "us",
            bare=median(messages, lambda content, _: parser.render(content), rounds),
            target="< 150 us" if name == "typical message" else "",
        )
        for name, messages in groups.items()
    ]
    times = sorted(seconds(content, context, render, rounds) * 1e6 for content, context in typical)
    figures += [
        Figure("typical message, mean", statistics.mean(times), "us"),
        Figure("typical message, slowest", times[-1], "us"),
        Figure("wanted(), typical message, p50", median(typical, lambda content, _: wanted(content), rounds), "us"),
    ]
    return Report(
        "Markup: one message to HTML, sanitized, with its by-products",
        {"rounds": rounds, "typical messages": len(TYPICAL), "cases in the corpus": len(corpus)},
        figures,
        notes=[
            "bare: plain markdown-it-py. Each message's time is the median of its rounds, p50 the median of the messages."
        ],
    )


def median(messages: Sequence[tuple[str, Context]], action: Render, rounds: int) -> float:
    return statistics.median(seconds(content, context, action, rounds) * 1e6 for content, context in messages)


def seconds(content: str, context: Context, action: Render, rounds: int) -> float:
    action(content, context)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action(content, context)
        times.append(time.perf_counter() - start)
    return statistics.median(times)
