"""What linkifiers may cost: those of one organization run in the process that serves all."""

import time

import pytest

from tertulia.content.markup import Context, Linkifier, render, topic_links
from tertulia.content.markup.linkifiers import Matcher, check_pattern

LINK = "https://x.example/{id}"
LARGE = {
    "choices": (r"(?P<id>a" + "(?:a?){900}" * 10 + "z)", "a" * 10_000),
    "far ahead": (r"(?P<id>(?:a ?){0,900}(?:a ?){0,900}z|a)", "a " * 5000),
    "windows": (r"(?P<id>.*" + "(?:.*a.{900})" * 5 + "z)", "a" * 10_000),
}


@pytest.fixture
def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of all time comes back, and on a busy machine much of it passes while little is done."""
    monkeypatch.setattr("tertulia.kernel.limits.time.monotonic", lambda: 0.0)


@pytest.mark.parametrize("kind", LARGE)
def test_a_pattern_that_repeats_very_much_is_refused_and_one_that_is_there_is_not_looked_for(kind: str) -> None:
    pattern, text = LARGE[kind]
    assert check_pattern(pattern) == "it is too large: it repeats too much"
    started = time.thread_time()
    html = render(text, Context(linkifiers=(Linkifier(pattern, LINK), Linkifier("b(?P<id>1)", LINK))))
    assert time.thread_time() - started < 0.5
    assert "https://x.example" not in html.html
    assert "https://x.example/1" in render("b1", Context(linkifiers=(Linkifier("b(?P<id>1)", LINK),))).html


@pytest.mark.parametrize(
    "pattern",
    [
        r"#(?P<id>[0-9]{2,8})",
        r"(?P<org>[a-zA-Z0-9_-]+)/(?P<repo>[a-zA-Z0-9_.-]+)#(?P<id>[0-9]+)",
        r"(?P<id>[0-9a-f]{40})",
        r"wiki:(?P<id>\pL[\pL\d]*)",
        r"«(?P<id>[^»]{1,200})»",
        r"\[\[(?P<id>[^\]]{1,255})\]\]",
    ],
)
def test_patterns_that_people_write_are_not_too_large(pattern: str) -> None:
    assert check_pattern(pattern) is None


@pytest.mark.parametrize("template", ["ssh://{id}", "https://x.example/" + "{id}" * 200])
def test_many_linkifiers_that_are_all_over_a_text_take_little_time_and_the_first_are_found(template: str) -> None:
    matcher = Matcher(tuple(Linkifier(rf"(?P<id>\w{'x?' * n})", template) for n in range(200)))
    for text in ("a " * 5000, "ax" * 5000):
        started = time.thread_time()
        matcher.find(text)
        assert time.thread_time() - started < 0.3


@pytest.mark.usefixtures("no_time_passes")
def test_linkifiers_that_take_long_again_and_again_wait_and_those_of_others_do_not() -> None:
    slow = Matcher(tuple(Linkifier(rf"(?P<id>\w{'x?' * n})", "ssh://{id}") for n in range(200)))
    other = Matcher((Linkifier("b(?P<id>1)", LINK),))
    for _ in range(100):
        slow.find("a " * 5000)
    started = time.thread_time()
    assert slow.find("a " * 5000) == []
    assert time.thread_time() - started < 0.005
    assert [match.url for match in other.find("b1")] == ["https://x.example/1"]


@pytest.mark.usefixtures("no_time_passes")
def test_a_text_of_many_paragraphs_has_one_time_for_all_linkifiers_and_it_counts() -> None:
    linkifiers = tuple(Linkifier(rf"T(?P<id>\d{{1,{n + 2}}})", LINK) for n in range(200))
    context = Context(linkifiers=linkifiers)
    started = time.thread_time()
    html = render("T1\n\n" * 2_500, context).html
    assert time.thread_time() - started < 1
    assert "<a href" in html
    for _ in range(40):
        render("T1\n\n" * 2_500, context)
    assert "<a href" not in render("T1", context).html


def test_what_the_names_of_thousands_of_topics_take_counts_as_well() -> None:
    linkifiers = tuple(Linkifier(rf"T(?P<id>\d{{1,{n + 3}}})", LINK) for n in range(200))
    assert topic_links("T0", linkifiers)
    started = time.thread_time()
    for number in range(2_000):
        topic_links(f"T{number} and T{number + 1}", linkifiers)
    assert time.thread_time() - started < 3
