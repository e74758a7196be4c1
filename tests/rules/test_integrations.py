"""What other services post becomes a message that names nobody, whatever is in it."""

import json
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tertulia.content.markup import Context, MentionableGroup, MentionablePerson, Rendered, render
from tertulia.integrations.incoming.actions import decode_payload, wants
from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.refusals import UnsupportedEvent
from tertulia.integrations.incoming.slack_incoming.mrkdwn import convert
from tertulia.integrations.incoming.table import INTEGRATIONS
from tertulia.integrations.incoming.wording import fit_content, fit_topic
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH, MAX_TOPIC_LENGTH

FOLDER = Path(__file__).parents[2] / "src" / "tertulia" / "integrations" / "incoming"
FIXTURES = [(name, file) for name in INTEGRATIONS for file in sorted((FOLDER / name / "fixtures").glob("*.json"))]
WORLD = Context(
    realm_url="https://chat.example.com",
    people=(MentionablePerson(7, "Iago", is_active=True),),
    groups=(MentionableGroup(9, "crew", is_active=True),),
)
HOSTILE = ("@**all**", "@**Iago**", "@_**Iago**", "@*crew*", "@**topic**", "[x](https://evil.example.com)", "~~~\n@**all**",
           "\n```\n@**all**", "<time:2026-01-01>", "$$x$$", "@", "**", "*all*", "_", "`", "\x00", "a" * 400)  # fmt: skip


def headers(name: str, file: Path) -> dict[str, str]:
    """The file's name begins with what the header says."""
    event = file.name.split(".")[0]
    return {"github": {"x-github-event": event}, "sentry": {"sentry-hook-resource": event}}.get(name, {})


def see(post: Post) -> Rendered:
    """As everybody sees it who reads the message."""
    topic = fit_topic(post.topic, "otherwise")
    assert bad_character(topic) is None
    assert 0 < len(topic) <= MAX_TOPIC_LENGTH
    content = fit_content(post.content)
    assert 0 < len(content) <= MAX_MESSAGE_LENGTH
    assert "\0" not in content
    return render(content, WORLD)


def test_a_topic_as_long_as_a_request_is_made_to_fit_at_once() -> None:
    began = time.monotonic()
    assert fit_topic("\x01" * 20_000, "otherwise") == "otherwise"
    assert fit_topic("Tea\x01\ufdd0cake " + "\x00a" * 1_000_000, "otherwise").startswith("Tea cake a a")
    assert fit_topic(" " * 100_000 + "Tea", "otherwise") == "Tea"
    assert time.monotonic() - began < 1


def test_every_integration_has_its_examples_and_its_guide() -> None:
    for name in INTEGRATIONS:
        assert list((FOLDER / name / "fixtures").glob("*.json")), name
        assert (FOLDER / name / "guide.md").read_text().strip(), name


@pytest.mark.parametrize(("name", "file"), FIXTURES, ids=lambda value: getattr(value, "name", value))
def test_an_example_is_told_like_this(name: str, file: Path) -> None:
    post = INTEGRATIONS[name].parse(Delivery(json.loads(file.read_text()), headers(name, file)))
    assert post is not None
    assert f"{post.topic}\n\n{post.content}\n" == file.with_suffix(".md").read_text()
    assert post.event in (INTEGRATIONS[name].events or ("",))
    rendered = see(post)
    assert not rendered.mentioned_user_ids
    assert rendered.mentions_channel == (file.name == "text.json" and name == "slack_incoming")


def texts_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a payload has texts."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_in(inner, (*path, key))


def with_text(payload: Any, path: tuple[Any, ...], text: Any) -> Any:
    """The payload with something else at one place."""
    changed = json.loads(json.dumps(payload))
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = text
    return changed


@pytest.mark.parametrize(("name", "file"), FIXTURES, ids=lambda value: getattr(value, "name", value))
def test_no_text_in_an_example_could_name_anybody(name: str, file: Path) -> None:
    payload = json.loads(file.read_text())
    calls = name == "slack_incoming" and file.name == "text.json"
    for path in texts_in(payload):
        for text in HOSTILE:
            try:
                post = INTEGRATIONS[name].parse(Delivery(with_text(payload, path, text), headers(name, file)))
            except (Refusal, UnsupportedEvent):
                continue
            if post is None:
                continue
            rendered = see(post)
            told = (path, text, post.content)
            assert not rendered.mentioned_user_ids | rendered.mentioned_group_ids, told
            assert not rendered.mentions_topic, told
            assert calls or not rendered.mentions_channel, told
            assert 'href="https://evil.example.com"' not in rendered.html or ">https://evil" in rendered.html, told


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
    | st.sampled_from(HOSTILE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@given(st.data())
@settings(max_examples=300)
def test_junk_in_an_example_is_told_or_refused_and_never_fails(data: st.DataObject) -> None:
    name, file = data.draw(st.sampled_from(FIXTURES))
    payload = json.loads(file.read_text())
    paths = list(texts_in(payload))
    for path in data.draw(st.lists(st.sampled_from(paths), max_size=3)):
        depth = data.draw(st.integers(1, len(path)))
        try:
            payload = with_text(payload, path[:depth], data.draw(junk))
        except (TypeError, KeyError, IndexError):
            continue  # an earlier piece of junk stands there
    try:
        post = INTEGRATIONS[name].parse(Delivery(payload, headers(name, file)))
    except (Refusal, UnsupportedEvent):
        return
    if post is not None:
        rendered = see(post)
        assert not rendered.mentioned_user_ids
        assert not rendered.mentioned_group_ids


@given(st.sampled_from(sorted(INTEGRATIONS)), junk, st.sampled_from(["push", "issues", "error", "status", "x", ""]))
@settings(max_examples=300)
def test_whatever_is_posted_is_told_or_refused(name: str, payload: Any, event: str) -> None:
    try:
        post = INTEGRATIONS[name].parse(Delivery(payload, {"x-github-event": event, "sentry-hook-resource": event}))
    except (Refusal, UnsupportedEvent):
        return
    if post is not None:
        assert not see(post).mentioned_user_ids


@given(st.lists(st.sampled_from([*HOSTILE, "<", ">", "|", "!", "<!x|", "<@U1>", "<#C|", "crew", "Iago", "all", " "])))
@settings(max_examples=500)
def test_a_text_for_slack_calls_only_by_its_own_words(pieces: list[str]) -> None:
    rendered = render(convert("".join(pieces)), WORLD)
    assert not rendered.mentioned_user_ids
    assert not rendered.mentioned_group_ids
    assert not rendered.mentions_channel
    assert not rendered.mentions_topic


def test_a_payload_is_json_or_a_form_with_json() -> None:
    assert decode_payload(b'{"a": 1}', "application/json") == {"a": 1}
    assert decode_payload(b'{"a": 1}', "text/plain") == {"a": 1}
    assert decode_payload(b"payload=%7B%22a%22%3A+1%7D&x=2", "application/x-www-form-urlencoded; charset=utf-8") == {
        "a": 1
    }
    for bad in (b"", b"{", b"\xff", b"[" * 100, b'"\\ud800"', b"1e999"):
        with pytest.raises(Refusal) as refused:
            decode_payload(bad, "application/json")
        assert refused.value.code == "INVALID_JSON"
    with pytest.raises(Refusal):
        decode_payload(b"x=2", "application/x-www-form-urlencoded")


def test_events_are_chosen_by_patterns() -> None:
    assert wants("push", None, None)
    assert wants("push", ["pu*"], None)
    assert not wants("push", ["pull*"], None)
    assert not wants("push", None, ["p*"])
    assert not wants("push", ["push"], ["push"])
    assert not wants("push", [], None)


@given(st.text("ab", max_size=8), st.text("ab*", max_size=8))
def test_a_star_in_a_pattern_is_any_characters(event: str, pattern: str) -> None:
    assert wants(event, [pattern], None) == fnmatchcase(event, pattern)


def test_no_other_sign_in_a_pattern_means_anything_and_none_takes_long() -> None:
    assert not wants("push", ["[p]ush", "pus?"], None)
    began = time.thread_time()
    for number in range(100):
        assert not wants("push" * 100, [str(number) + "[\x01-\ufffd]" * 18, "*p" * 50 + "x"], None)
    assert time.thread_time() - began < 0.5
