"""Searching: words, phrases, scripts without spaces, and what is marked."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from tertulia.kernel.db import Transaction
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.search import Matches, parse_query
from tertulia.messaging.narrows.statements import ids_from
from tertulia.messaging.narrows.stems import MAX_MARKED
from tertulia.messaging.reading.windows import BEGUN_SECONDS
from tests.harness.server import Channel, Server
from tests.harness.stage import Backstage, Stage, later
from tests.harness.talk import Json, Speaker, check_error, check_success

OPEN, CLOSE = '<span class="highlight">', "</span>"
TEXTS = {
    "run": "They were running along the river",
    "code": "the **quick** brown `fox_trot()` & friends",
    "phrase": "red green blue",
    "mixed": "green then red",
    "japanese": "今日は東京タワーに行きました",
    "thai": "สวัสดีชาวโลก",
    "address": "look at www.example.org/path now",
    "stop": "the and of",
    "begun": "Theory: 12345 deployments of a universe",
}


Room = tuple[Speaker, Channel, dict[str, int]]


@pytest.fixture(scope="module")
def room(server: Server, backstage: Backstage) -> Iterator[Room]:
    stage = Stage(server, backstage)
    speaker = stage.speaker()
    channel = stage.channel(speaker)
    yield (
        speaker,
        channel,
        {name: speaker.send(channel.stream_id, f"About {name}", text) for name, text in TEXTS.items()},
    )
    stage.close()


def search(room: Room, typed: str, *more: Json) -> list[Json]:
    speaker, channel, _ = room
    narrow = [{"operator": "channel", "operand": channel.stream_id}, {"operator": "search", "operand": typed}, *more]
    in_channel: list[Json] = speaker.window(before=99, narrow=narrow)["messages"]
    everywhere = speaker.window(before=99, narrow=[narrow[1], *more])["messages"]
    assert [message["id"] for message in in_channel] == [message["id"] for message in everywhere]
    return in_channel


def names(room: Room, typed: str) -> list[str]:
    of = {id: name for name, id in room[2].items()}
    return [of[message["id"]] for message in search(room, typed)]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("run", ["run"]),
        ("RUNS rivers", ["run"]),
        ("green red", ["phrase", "mixed"]),
        ('"red green"', ["phrase"]),
        ('"GREEN then" red', ["mixed"]),
        ("about phrase", ["phrase"]),
        ("phrase green", ["phrase"]),
        ("phrase river", []),
        ("東京", ["japanese"]),
        ("東京タワー", ["japanese"]),
        ("タワー 今日", ["japanese"]),
        ("大阪", []),
        ("ชาวโลก", ["thai"]),
        ("www.example.org/path", ["address"]),
        ("the", []),
        ("the river", ["run"]),
        ("%", []),
        ("' | & ! :* <->", []),
        ("dep", ["begun"]),
        ("DEPLO, univ", ["begun"]),
        ("deploym", ["begun"]),
        ("univers begu", ["begun"]),
        ("gre blu", ["phrase"]),
        ("gre nothing", []),
        ("de", []),
        ('"deplo"', []),
        ("123", []),
        ("12345 deplo", ["begun"]),
        ("a" * 1500 + "½" + "b" * 1500, []),
    ],
)
def test_a_search_finds(room: Room, typed: str, found: list[str]) -> None:
    assert names(room, typed) == found


def test_a_begun_word_that_takes_too_long_is_looked_for_as_a_whole_one(room: Room, backstage: Backstage) -> None:
    speaker, _, ids = room

    def window(typed: str) -> list[int]:
        narrow = [{"operator": "search", "operand": typed}]
        return [message["id"] for message in speaker.window(before=9, narrow=narrow)["messages"]]

    def star(typed: str) -> int:
        narrow = [{"operator": "search", "operand": typed}]
        asked = {"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": narrow, "op": "add", "flag": "starred"}
        return int(check_success(speaker.request("POST", "messages/flags/narrow", **asked))["updated_count"])

    async def search_meanwhile(tx: Transaction) -> "list[Future[Any]]":
        # The search itself reads it, and nothing before it does.
        await tx.execute("lock table topic in access exclusive mode")
        searching: list[Future[Any]] = [
            later(window, "rivers"),
            later(window, "deplo"),
            later(star, "rivers deplo"),
            later(star, "rivers"),
        ]
        await asyncio.sleep(BEGUN_SECONDS + 1)
        return searching

    assert [one.result(30) for one in backstage.write(search_meanwhile)] == [[ids["run"]], [], 0, 1]
    assert window("deplo") == [ids["begun"]]


def test_several_searches_are_one_and_negation_changes_nothing(room: Room) -> None:
    more = {"operator": "search", "operand": "blue", "negated": True}
    assert [message["id"] for message in search(room, "red", more)] == [room[2]["phrase"]]


def test_hits_are_marked_as_they_were_written(room: Room) -> None:
    [message] = search(room, "runs")
    assert f"were {OPEN}running{CLOSE} along" in message["match_content"]
    assert message["match_content"].replace(OPEN, "").replace(CLOSE, "") == message["content"]
    [message] = search(room, "deploym the uni beg")
    assert f"Theory: 12345 {OPEN}deployments{CLOSE} of a {OPEN}universe{CLOSE}" in message["match_content"]
    assert message["match_subject"] == f"About {OPEN}begun{CLOSE}"
    [message] = search(room, "東京")
    assert f"は{OPEN}東京{CLOSE}タ" in message["match_content"]


def test_marks_are_html_also_for_those_who_want_markdown(room: Room) -> None:
    speaker, _, ids = room
    narrow = [{"operator": "search", "operand": "quick"}]
    message = speaker.message(ids["code"], apply_markdown=False, narrow=narrow)
    assert message["content"] == TEXTS["code"]
    assert f"{OPEN}quick{CLOSE}" in message["match_content"]
    assert "&amp;" in message["match_content"]
    assert message["match_subject"] == "About code"


def test_without_a_search_there_are_no_marks(room: Room) -> None:
    assert "match_content" not in room[0].message(room[2]["run"])


@pytest.mark.parametrize("typed", ["", "  ", "\t"])
def test_a_blank_search_is_refused(room: Room, typed: str) -> None:
    check_error(room[0].request("GET", "messages", anchor="newest", narrow=[["search", typed]]))


def test_both_ways_of_a_search_find_the_same(room: Room, backstage: Backstage) -> None:
    speaker, channel, _ = room
    everything = {"user_id": speaker.id, "realm_id": 1, "scope": Scope.RECEIVED}
    some = (
        "run",
        "green red",
        '"red green"',
        "phrase green",
        "東京",
        "東京タワー",
        "about",
        "phrase river",
        "dep",
        "gre phr",
    )
    for typed in some:
        found = []
        for is_rare in (True, False):
            matches = Matches(query=parse_query(typed), is_rare=is_rare)
            for here in ({}, {"conversation_id": channel.stream_id, "sees_all": True}):
                narrow = Narrowed(**everything, **here, conditions=(matches,))  # type: ignore[arg-type]
                for downwards in (True, False):
                    statement = ids_from(narrow, 2**62 if downwards else 0, 50, downwards=downwards)
                    rows = backstage.write(lambda tx, asked=statement: tx.fetch(asked.sql, *asked.arguments))  # type: ignore[misc]
                    found.append(sorted(row["id"] for row in rows))
        assert all(ids == found[0] for ids in found), typed


def test_a_new_message_is_found_at_once(room: Room) -> None:
    speaker, channel, _ = room
    sent = speaker.send(channel.stream_id, "fresh", "a zebra crossing")
    [message] = speaker.window(before=9, narrow=[["search", "zebras"]])["messages"]
    assert message["id"] == sent


def test_of_many_long_messages_the_newest_are_marked_and_the_answer_costs_only_so_much(stage: Stage) -> None:
    speaker = stage.speaker()
    sent = [speaker.send([speaker.id], content="zebra & " * 1_250) for _ in range(24)]
    narrow = [{"operator": "dm", "operand": [speaker.id]}, {"operator": "search", "operand": "zebra"}]
    found = speaker.window(before=99, narrow=narrow)["messages"]
    assert [message["id"] for message in found] == sent
    matches = speaker.get("messages/matches_narrow", msg_ids=sent, narrow=narrow)["messages"]
    assert {str(message["id"]): message["match_content"] for message in found} == {
        id: match["match_content"] for id, match in matches.items()
    }
    is_marked = [message["match_content"].count(OPEN) == 1_250 for message in found]
    assert is_marked == sorted(is_marked), "the newest come first"
    assert sum(len(message["content"]) for message in found) > MAX_MARKED
    assert 0 < sum(len(message["content"]) for message in found if OPEN in message["match_content"]) <= MAX_MARKED
    for message in found:
        assert message["match_content"].replace(OPEN, "").replace(CLOSE, "") == message["content"]
