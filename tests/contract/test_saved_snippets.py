"""Saved snippets (protocol/messages.md#snippets)."""

import time

import pytest

from tests.harness.talk import Json, Speaker, check_error


def snippets(speaker: Speaker) -> list[Json]:
    state = speaker.post("register", event_types=[], fetch_event_types=["saved_snippets"])
    speaker.delete("events", queue_id=state["queue_id"])
    found: list[Json] = state["saved_snippets"]
    assert speaker.get("saved_snippets")["saved_snippets"] == found
    return found


@pytest.mark.holds("snippets.kept")
def test_a_snippet_is_saved_changed_and_dropped_and_each_is_told(newcomer: Speaker) -> None:
    with newcomer.register(event_types=["saved_snippets"]) as queue:
        snippet_id = newcomer.post("saved_snippets", title=" Greeting ", content=" Welcome! \n")["saved_snippet_id"]
        [snippet] = snippets(newcomer)
        assert abs(snippet["date_created"] - time.time()) < 60
        shown = {"id": snippet_id, "title": "Greeting", "content": "Welcome!", "date_created": snippet["date_created"]}
        assert snippet == shown
        newcomer.request("PATCH", f"saved_snippets/{snippet_id}", content="Good morning")
        newcomer.request("PATCH", f"saved_snippets/{snippet_id}", content="Good morning")
        newcomer.request("PATCH", f"saved_snippets/{snippet_id}")
        assert snippets(newcomer) == [shown | {"content": "Good morning"}]
        newcomer.delete(f"saved_snippets/{snippet_id}")
        assert snippets(newcomer) == []
        told: list[Json] = []
        while len(told) < 3:
            told += queue.poll()
        assert [{key: value for key, value in event.items() if key not in ("id", "type")} for event in told] == [
            {"op": "add", "saved_snippet": shown},
            {"op": "update", "saved_snippet": shown | {"content": "Good morning"}},
            {"op": "remove", "saved_snippet_id": snippet_id},
        ]


@pytest.mark.holds("snippets.limits")
@pytest.mark.parametrize(
    "fields",
    [{"title": " "}, {"title": "x" * 61}, {"content": "\n"}, {"content": "x" * 10_001}],
    ids=lambda fields: str(fields)[:40],
)
def test_a_snippet_has_a_title_and_a_text_of_some_length(newcomer: Speaker, fields: Json) -> None:
    check_error(newcomer.request("POST", "saved_snippets", **{"title": "T", "content": "C"} | fields))
    snippet_id = newcomer.post("saved_snippets", title="T", content="C")["saved_snippet_id"]
    check_error(newcomer.request("PATCH", f"saved_snippets/{snippet_id}", **fields))


@pytest.mark.holds("snippets.private")
def test_nobody_else_learns_of_a_snippet(newcomer: Speaker, member: Speaker, bot: Speaker) -> None:
    snippet_id = newcomer.post("saved_snippets", title="Secret", content="Text")["saved_snippet_id"]
    for method in ("PATCH", "DELETE"):
        own = check_error(member.request(method, f"saved_snippets/{snippet_id}"))
        assert own == check_error(member.request(method, "saved_snippets/999999999"))
    assert snippet_id not in [snippet["id"] for snippet in snippets(member)]
    check_error(bot.request("GET", "saved_snippets"))
