"""Linkifiers (protocol/people.md#linkifiers)."""

from collections.abc import Iterator

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

TEMPLATES = {"notification_settings_null": True, "linkifier_url_template": True}


@pytest.fixture
def word() -> str:
    """A beginning that no other test's linkifier has."""
    return unique("TK").replace(" ", "").upper()


@pytest.fixture(autouse=True)
def clean(owner: Speaker) -> Iterator[None]:
    yield
    for one in owner.get("realm/linkifiers")["linkifiers"]:
        owner.delete(f"realm/filters/{one['id']}")


def add(owner: Speaker, word: str, **more: object) -> int:
    pattern, template = rf"{word}-(?P<number>[0-9]+)", "https://tickets.example.com/{number}"
    found: int = owner.post("realm/filters", pattern=pattern, url_template=template, **more)["id"]
    return found


@pytest.mark.holds("linkifiers.list")
def test_a_linkifier_is_listed_and_told(owner: Speaker, member: Speaker, word: str) -> None:
    with member.register(event_types=["realm_linkifiers"], client_capabilities=TEMPLATES) as queue:
        linkifier_id = add(
            owner, word, example_input=f"{word}-7", alternative_url_templates=["https://t.example/{number}"]
        )
        shown = {
            "id": linkifier_id,
            "pattern": rf"{word}-(?P<number>[0-9]+)",
            "url_template": "https://tickets.example.com/{number}",
            "example_input": f"{word}-7",
            "reverse_template": None,
            "alternative_url_templates": ["https://t.example/{number}"],
        }
        assert member.get("realm/linkifiers")["linkifiers"] == [shown]
        [event] = queue.poll()
        assert event["realm_linkifiers"] == [shown]
        owner.delete(f"realm/filters/{linkifier_id}")
        [event] = queue.poll()
        assert event["realm_linkifiers"] == []


@pytest.mark.holds("linkifiers.list")
def test_messages_and_topics_are_linked(owner: Speaker, member: Speaker, channel: Channel, word: str) -> None:
    add(owner, word)
    sent = member.send(channel.stream_id, f"About {word}-9", f"See {word}-12.")
    message = member.message(sent)
    link = f'<a href="https://tickets.example.com/12">{word}-12</a>'
    assert message["content"] == f"<p>See {link}.</p>"
    assert message["topic_links"] == [{"text": f"{word}-9", "url": "https://tickets.example.com/9"}]


@pytest.mark.holds("linkifiers.order")
def test_the_order_decides_and_can_be_changed(owner: Speaker, member: Speaker, word: str) -> None:
    first = add(owner, word)
    second = owner.post("realm/filters", pattern=rf"{word}-(?P<n>\d)", url_template="https://b.example/{n}")["id"]
    owner.request("PATCH", "realm/linkifiers", ordered_linkifier_ids=[second, first])
    assert [one["id"] for one in member.get("realm/linkifiers")["linkifiers"]] == [second, first]
    for bad in ([first], [first, first], [first, second, 999_999_999]):
        check_error(owner.request("PATCH", "realm/linkifiers", ordered_linkifier_ids=bad))


@pytest.mark.holds("linkifiers.change")
def test_a_change_keeps_what_is_not_passed(owner: Speaker, word: str) -> None:
    linkifier_id = add(owner, word)
    owner.request("PATCH", f"realm/filters/{linkifier_id}", url_template="https://new.example/{number}")
    [found] = owner.get("realm/linkifiers")["linkifiers"]
    assert (found["pattern"], found["url_template"]) == (rf"{word}-(?P<number>[0-9]+)", "https://new.example/{number}")


@pytest.mark.holds("linkifiers.refused")
@pytest.mark.parametrize(
    "fields",
    [
        {"pattern": "(", "url_template": "https://example.com"},
        {"pattern": "", "url_template": "https://example.com"},
        {"pattern": "x*", "url_template": "https://example.com"},
        {"pattern": r"(a)\1", "url_template": "https://example.com"},
        {"pattern": "(?P<n>a)", "url_template": "https://example.com"},
        {"pattern": "abc", "url_template": "https://example.com/{n}"},
        {"pattern": "(?P<n>a)", "url_template": "https://example.com/{n"},
        {"pattern": "x" * 501, "url_template": "https://example.com"},
        {"pattern": "abc"},
        {"url_template": "https://example.com"},
    ],
    ids=lambda fields: str(fields)[:60],
)
def test_what_is_no_linkifier(owner: Speaker, fields: Json) -> None:
    check_error(owner.request("POST", "realm/filters", **fields))
    assert owner.get("realm/linkifiers")["linkifiers"] == []


@pytest.mark.holds("linkifiers.refused")
def test_a_pattern_is_there_once(owner: Speaker, word: str) -> None:
    add(owner, word)
    template = "https://other.example/{number}"
    check_error(owner.request("POST", "realm/filters", pattern=rf"{word}-(?P<number>[0-9]+)", url_template=template))


@pytest.mark.holds("linkifiers.administrators")
def test_only_administrators_change_them(member: Speaker, word: str) -> None:
    fields = {"pattern": word, "url_template": "https://example.com"}
    check_error(member.request("POST", "realm/filters", **fields), "UNAUTHORIZED_PRINCIPAL")


@pytest.mark.holds("linkifiers.capability")
def test_clients_that_do_not_understand_templates_are_told_of_none(owner: Speaker, word: str) -> None:
    add(owner, word)

    def state(**options: object) -> list[Json]:
        found = owner.post("register", event_types=[], fetch_event_types=["realm_linkifiers"], **options)
        owner.delete("events", queue_id=found["queue_id"])
        shown: list[Json] = found["realm_linkifiers"]
        return shown

    assert (state(), len(state(client_capabilities=TEMPLATES))) == ([], 1)
