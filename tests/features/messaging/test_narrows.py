"""Every narrow, against a plain-Python reference on random data: for members, a guest and protected history, over HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.harness.narrow_world import START, TOPICS, WORDS, Reader, World
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, check_error

IS = ("dm", "starred", "alerted", "unread", "mentioned", "resolved", "followed", "muted")


@pytest.fixture(scope="module")
def world(server: Server, backstage: Backstage) -> Iterator[World]:
    stage = Stage(server, backstage)
    try:
        yield World(stage)
    finally:
        stage.close()


def terms_for(world: World, reader: Reader) -> some.SearchStrategy[Json]:
    known = [place for place in world.channels if world.may_read(reader, place)]
    people = some.sampled_from(world.people)
    operands: dict[str, some.SearchStrategy[Any]] = {
        "channel": some.sampled_from([*(place.id for place in known), *(place.name for place in known)]),
        "channels": some.sampled_from(["public", "web-public", "archived"]),
        "topic": some.sampled_from([*TOPICS, "LUNCH", "nothing"]),
        "sender": people,
        "dm": some.lists(people, min_size=1, max_size=2, unique=True),
        "dm-including": people,
        "mentions": people,
        "is": some.sampled_from(IS),
        "in": some.sampled_from(["home", "all"]),
        "has": some.sampled_from(["link", "image", "attachment", "reaction"]),
        "id": some.sampled_from([message.id for message in world.messages]),
        "search": some.sampled_from([*WORDS, "bridge dragon", "done apple", "works"]),
    }
    each = [
        some.fixed_dictionaries({"operator": some.just(operator), "operand": operand, "negated": some.booleans()})
        for operator, operand in operands.items()
    ]
    # The most telling operators more often.
    return some.one_of(*each, each[0], each[7], each[7])


def check(world: World, reader: Reader, terms: list[Json], anchor: Any, before: int, after: int) -> None:
    fields: Json = {"narrow": terms, "num_before": before, "num_after": after, "anchor": anchor}
    if not isinstance(anchor, str | int):
        fields |= {"anchor": "date", "anchor_date": anchor.isoformat()}
    if world.is_mixed(terms):
        reply = reader.speaker.request("GET", "messages", **fields)
        check_error(reply, "BAD_NARROW", desc=reply.json().get("desc"))
        return
    answer = reader.speaker.get("messages", **fields)
    wanted = world.window(reader, terms, anchor, before, after)
    got = {"ids": [message["id"] for message in answer["messages"]], "anchor": answer["anchor"]}
    got |= {"anchored": answer["found_anchor"], "oldest": answer["found_oldest"], "newest": answer["found_newest"]}
    channels = {str(term["operand"]) for term in terms if term["operator"] == "channel" and not term["negated"]}
    if len(channels) > 1 or not wanted["ids"]:
        # What cannot hold anything says that both ends were found, whatever the window.
        for end in ("oldest", "newest"):
            wanted[end] = got[end] if got[end] else wanted[end]
    assert got == wanted


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=some.data())
@pytest.mark.timeout(300)
def test_any_narrow_finds_what_its_description_says(world: World, data: some.DataObject) -> None:
    reader = data.draw(some.sampled_from(world.readers), "reader")
    terms = data.draw(some.lists(terms_for(world, reader), max_size=3), "terms")
    ids = [message.id for message in world.messages]
    dates = some.integers(-2, 170).map(lambda minutes: START + timedelta(minutes=minutes, seconds=30))
    anchors: some.SearchStrategy[Any] = some.one_of(
        some.sampled_from(["newest", "oldest", "first_unread"]), some.integers(ids[0] - 1, ids[-1] + 1), dates
    )
    anchor = data.draw(anchors, "anchor")
    before, after = data.draw(some.tuples(some.integers(0, 12), some.integers(0, 12)), "window")
    check(world, reader, terms, anchor, before, after)


@pytest.mark.parametrize("operand", IS)
@pytest.mark.parametrize("negated", [False, True])
def test_each_is_operand_alone_for_each_reader(world: World, operand: str, negated: bool) -> None:
    for reader in world.readers:
        check(world, reader, [{"operator": "is", "operand": operand, "negated": negated}], "newest", 1000, 0)


def test_given_messages_are_filtered_by_reach_and_narrow(world: World) -> None:
    ids = [message.id for message in world.messages]
    for reader in world.readers:
        for terms in ([], [{"operator": "is", "operand": "unread"}], [{"operator": "topic", "operand": "lunch"}]):
            answer = reader.speaker.get("messages", message_ids=[*ids, 2**60, 0], narrow=terms or None)
            found = (
                world.matching(reader, terms) if terms else [m for m in world.messages if world.is_reached(reader, m)]
            )
            assert [message["id"] for message in answer["messages"]] == [message.id for message in found]
            assert "anchor" not in answer
            assert answer["found_anchor"] is answer["found_oldest"] is answer["found_newest"] is False


def test_with_leads_to_the_conversation_a_message_is_in(world: World) -> None:
    for reader in world.readers:
        for message in world.messages[::7]:
            reply = reader.speaker.request(
                "GET",
                "messages",
                anchor="newest",
                num_before=1000,
                narrow=[{"operator": "with", "operand": message.id}],
            )
            if not world.is_reached(reader, message):
                check_error(reply, "BAD_NARROW", desc=reply.json().get("desc"))
                continue
            same = [
                other.id
                for other in world.messages
                if (other.place, other.topic_id) == (message.place, message.topic_id)
                and world.is_reached(reader, other)
            ]
            assert [found["id"] for found in reply.json()["messages"]] == same


def test_the_flags_of_messages_say_what_the_narrows_find(world: World) -> None:
    for reader in world.readers:
        ids = [message.id for message in world.messages]
        shown = {
            message["id"]: message["flags"] for message in reader.speaker.get("messages", message_ids=ids)["messages"]
        }
        for message in world.messages:
            if message.id not in shown:
                continue
            flags = shown[message.id]
            is_received = world.is_received(reader, message)
            assert ("historical" in flags) is not is_received
            assert ("read" in flags) is not world.is_unread(reader, message)
            assert ("starred" in flags) is ((reader.id, 1) in message.marks)
            mentions = {"mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned"} & set(flags)
            assert bool(mentions) is (is_received and world.is_mentioned(reader, message))
            assert ("group_mentioned" in flags) is (is_received and bool(message.groups & reader.groups))
            assert ("wildcard_mentioned" in flags) is bool(mentions - {"mentioned"})
