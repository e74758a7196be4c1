"""The page of presences that a process keeps: chunks and their cached texts never show in what is answered."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tertulia.people.presence.book import CHUNK_LINES, Page
from tertulia.people.presence.model import Presence

PEOPLE = CHUNK_LINES * 3

# A batch of pings has one number. Blocks of neighbours return together, as they do in life, and fill and empty chunks.
blocks = st.tuples(st.integers(0, PEOPLE - 1), st.integers(1, CHUNK_LINES * 2))
questions = st.tuples(st.integers(-1, 40), st.integers(0, 40), st.none() | st.sets(st.integers(0, PEOPLE), max_size=50))


@given(batches=st.lists(blocks, max_size=40), asked=st.lists(questions, min_size=1, max_size=6))
def test_a_page_answers_as_a_plain_list_of_the_newest_changes_would(
    batches: list[tuple[int, int]], asked: list[tuple[int, int, set[int] | None]]
) -> None:
    page = Page()
    newest: dict[int, int] = {}
    for number, (start, length) in enumerate(batches):
        for user_id in dict.fromkeys(each % PEOPLE for each in range(start, start + length)):
            page.add(number, Presence(user_id, number + 1, number + 1))
            newest[user_id] = number
        known, oldest, visible = asked[number % len(asked)]
        check(page, newest, known, oldest, visible)
    for known, oldest, visible in asked:
        check(page, newest, known, oldest, visible)
    assert page.last_id == len(batches) - 1


def check(page: Page, newest: dict[int, int], known: int, oldest: int, visible: set[int] | None) -> None:
    pairs = json.loads(page.since(known, oldest, visible), object_pairs_hook=list)
    shown = {int(user_id): dict(moments)["active_timestamp"] - 1 for user_id, moments in pairs}
    assert len(shown) == len(pairs), "somebody is there twice"
    assert shown == {
        user_id: number
        for user_id, number in newest.items()
        if number > known and number + 1 >= oldest and (visible is None or user_id in visible)
    }


def test_people_who_never_return_do_not_leave_chunks_behind() -> None:
    page = Page()
    for round_ in range(200):
        for user_id in range(CHUNK_LINES):
            page.add(round_ * 1000 + user_id, Presence(user_id, 1, 1))
        page.add(round_ * 1000 + 999, Presence(10_000 + round_, 1, 1))
    assert len(page._chunks) < 10
