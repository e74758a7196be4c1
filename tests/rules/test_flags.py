"""The flags of a reader on a message, and how much of a window is flagged at once."""

import pytest

from tertulia.conversations.read_state.marks import Concern, Mark, Wildcard, flags_for
from tertulia.messaging.flags.rules import clamp

EVERYBODY = ["stream_wildcard_mentioned", "wildcard_mentioned"]


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ((0, 0), (0, 0)),
        ((2500, 2500), (2500, 2500)),
        ((5000, 0), (5000, 0)),
        ((0, 5000), (0, 5000)),
        ((9000, 0), (5000, 0)),
        ((0, 9000), (0, 5000)),
        ((5000, 5000), (2500, 2500)),
        ((4900, 200), (4800, 200)),
        ((200, 4900), (200, 4800)),
        ((1, 10**12), (1, 4999)),
    ],
)
def test_the_larger_side_gives_way_first(asked: tuple[int, int], done: tuple[int, int]) -> None:
    assert clamp(*asked) == done


@pytest.mark.parametrize(
    ("concern", "flags"),
    [
        (Concern(True, False), []),
        (Concern(True, True), ["read"]),
        (Concern(True, True, (Mark.STARRED, Mark.COLLAPSED)), ["read", "starred", "collapsed"]),
        (Concern(True, False, (Mark.MENTIONED,)), ["mentioned"]),
        (
            Concern(True, False, (Mark.HAS_ALERT_WORD,), in_group=True),
            ["mentioned", "group_mentioned", "has_alert_word"],
        ),
        (Concern(True, False, wildcard=Wildcard.CHANNEL), EVERYBODY),
        (Concern(True, False, wildcard=Wildcard.TOPIC), []),
        (
            Concern(True, False, wildcard=Wildcard.TOPIC, takes_part=True),
            ["topic_wildcard_mentioned", "wildcard_mentioned"],
        ),
        (
            Concern(True, False, (Mark.MENTIONED,), True, Wildcard.CHANNEL | Wildcard.TOPIC, True),
            ["mentioned", EVERYBODY[0], "topic_wildcard_mentioned", EVERYBODY[1], "group_mentioned"],
        ),
        (
            Concern(False, None, (Mark.STARRED, Mark.MENTIONED), True, Wildcard.CHANNEL, True),
            ["read", "historical", "starred"],
        ),
    ],
)
def test_flags_follow_from_what_a_message_is_to_its_reader(concern: Concern, flags: list[str]) -> None:
    assert flags_for(concern) == flags
