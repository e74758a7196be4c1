"""Whom a message concerns: the decision against a table, over every combination of settings."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import msgspec
import pytest

from tertulia.notifications.concerns.model import Facts
from tertulia.notifications.concerns.quiet import quiet_until
from tertulia.notifications.concerns.rules import ACTIVE_SECONDS, decide, read_settings
from tertulia.organization.realms import published

ROWS = (
    # The first row of which everything is true is the reason. A row's conditions are columns of `columns_of`.
    ("direct_message", "offline direct"),
    ("mentioned", "offline channel named"),
    ("mentioned", "offline channel in_group"),
    ("topic_wildcard_mentioned", "offline channel called_in_topic followed wildcards_of_followed"),
    ("topic_wildcard_mentioned", "offline channel called_in_topic heard wildcards"),
    ("stream_wildcard_mentioned", "offline channel called_in_channel followed wildcards_of_followed"),
    ("stream_wildcard_mentioned", "offline channel called_in_channel heard wildcards"),
    ("followed_topic", "channel followed tells_followed"),
    ("of_channel", "channel heard tells_channel"),
)
TRUE_FALSE = (True, False)
OWN = (None, True, False)
SPACE: dict[str, tuple[Any, ...]] = {
    "is_direct": TRUE_FALSE,
    "is_named": TRUE_FALSE,
    "in_group": TRUE_FALSE,
    "wildcard": (0, 1, 2, 3),
    "takes_part": TRUE_FALSE,
    "policy": (0, 1, 2, 3),
    "is_channel_muted": TRUE_FALSE,
    "own": OWN,
    "own_wildcards": OWN,
    "offline": TRUE_FALSE,
    "tells_followed": TRUE_FALSE,
    "general": TRUE_FALSE,
    "general_wildcards": TRUE_FALSE,
    "wildcards_of_followed": TRUE_FALSE,
}
NOW = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)  # a Saturday; in Madrid the clock goes from 2 to 3 two hours later
PLAIN = Facts(
    message_id=1,
    user_id=2,
    is_unread=True,
    is_sender_muted=False,
    is_direct=True,
    is_named=False,
    in_group=False,
    wildcard=0,
    takes_part=False,
    policy=0,
    is_channel_muted=False,
    push_notifications=None,
    email_notifications=None,
    wildcard_mentions_notify=None,
    active_seconds=None,
    timezone="",
    now=NOW,
    settings="{}",
)


def columns_of(case: dict[str, Any]) -> set[str]:
    """What is true of a case, by the words of the table."""
    is_muted = case["policy"] == 1 or (case["is_channel_muted"] and case["policy"] != 2)
    words = {
        "offline": case["offline"],
        "direct": case["is_direct"],
        "channel": not case["is_direct"],
        "named": case["is_named"],
        "in_group": case["in_group"],
        "called_in_topic": case["wildcard"] in (2, 3) and case["takes_part"],
        # Whoever takes part hears of a mention of both as one of the topic.
        "called_in_channel": case["wildcard"] == 1 or (case["wildcard"] == 3 and not case["takes_part"]),
        "followed": case["policy"] == 3,
        "heard": not is_muted,
        "wildcards": case["general_wildcards"] if case["own_wildcards"] is None else case["own_wildcards"],
        "wildcards_of_followed": case["wildcards_of_followed"],
        "tells_followed": case["tells_followed"],
        "tells_channel": case["general"] if case["own"] is None else case["own"],
    }
    return {word for word, is_true in words.items() if is_true}


def cases() -> Iterator[dict[str, Any]]:
    for values in product(*SPACE.values()):
        yield dict(zip(SPACE, values, strict=True))


def facts_of(case: dict[str, Any], way: str, settings: str) -> Facts:
    """The case as facts, where it is about this way; the other way's settings are as they are by themselves."""
    own = {"push": "push_notifications", "mail": "email_notifications"}[way]
    shared = ("is_direct", "is_named", "in_group", "wildcard", "takes_part", "policy", "is_channel_muted")
    changes = {name: case[name] for name in shared} | {own: case["own"], "settings": settings}
    return msgspec.structs.replace(PLAIN, wildcard_mentions_notify=case["own_wildcards"], **changes)


def settings_of(case: dict[str, Any], way: str) -> str:
    word = {"push": "push", "mail": "email"}[way]
    chosen = {
        f"enable_offline_{word}_notifications": case["offline"],
        f"enable_followed_topic_{word}_notifications": case["tells_followed"],
        f"enable_stream_{word}_notifications": case["general"],
        "wildcard_mentions_notify": case["general_wildcards"],
        "enable_followed_topic_wildcard_mentions_notify": case["wildcards_of_followed"],
    }
    return msgspec.json.encode(chosen).decode()


@pytest.mark.parametrize(("way", "of_channel"), [("push", "stream_push"), ("mail", "stream_email")])
def test_every_combination_of_settings_is_decided_as_the_table_says(way: str, of_channel: str) -> None:
    table = [(trigger, set(words.split())) for trigger, words in ROWS]
    seen, count = set(), 0
    for case in cases():
        true = columns_of(case)
        expected = next((trigger for trigger, needed in table if needed <= true), None)
        if way == "mail" and not case["offline"]:
            expected = None  # one switch ends all mails about messages
        decision = decide(facts_of(case, way, settings_of(case, way)))
        told = of_channel if expected == "of_channel" else expected
        assert (decision.push if way == "push" else decision.mail) == told, case
        seen.add(expected)
        count += 1
    assert count == 2**10 * 4**2 * 3**2
    assert seen == {trigger for trigger, _ in ROWS} | {None}


@pytest.mark.parametrize("change", [{"is_unread": False}, {"is_sender_muted": True}])
def test_nobody_is_told_of_what_they_have_read_cannot_reach_or_muted(change: dict[str, Any]) -> None:
    decision = decide(msgspec.structs.replace(PLAIN, is_named=True, wildcard=3, **change))
    assert (decision.push, decision.mail) == (None, None)


@pytest.mark.parametrize(
    ("seconds", "is_active"), [(None, False), (0.0, True), (91.0, True), (199.9, True), (200.0, False), (1e9, False)]
)
def test_active_means_the_seconds_that_clients_are_told(seconds: float | None, is_active: bool) -> None:
    decision = decide(msgspec.structs.replace(PLAIN, active_seconds=seconds))
    assert (decision.push is None, decision.is_active) == (is_active, is_active)
    assert decision.mail == "direct_message"  # whether they left shows later
    assert ACTIVE_SECONDS == published.SERVER["server_presence_offline_threshold_seconds"] == 200


HOURS = {"quiet_hours_enabled": True}
SATURDAY, SUNDAY = 32, 64
QUIET_ROWS: tuple[tuple[dict[str, Any], str, datetime, datetime | None], ...] = (
    # Settings, time zone, now, and when the quiet ends: by itself from 22:00 to 7:00, every day.
    ({}, "", NOW, None),
    (HOURS, "", NOW, datetime(2026, 3, 29, 7, tzinfo=UTC)),
    (HOURS, "UTC", datetime(2026, 3, 28, 21, 59, 59, tzinfo=UTC), None),
    (HOURS, "UTC", datetime(2026, 3, 28, 22, tzinfo=UTC), datetime(2026, 3, 29, 7, tzinfo=UTC)),
    (HOURS, "UTC", datetime(2026, 3, 29, 6, 59, 59, tzinfo=UTC), datetime(2026, 3, 29, 7, tzinfo=UTC)),
    (HOURS, "UTC", datetime(2026, 3, 29, 7, tzinfo=UTC), None),
    # A night in which the clock is changed is shorter, or longer.
    (HOURS, "Europe/Madrid", NOW, datetime(2026, 3, 29, 5, tzinfo=UTC)),
    (HOURS, "Europe/Madrid", datetime(2026, 10, 24, 23, tzinfo=UTC), datetime(2026, 10, 25, 6, tzinfo=UTC)),
    (HOURS, "America/Bogota", NOW, None),
    (HOURS, "Asia/Kathmandu", NOW, datetime(2026, 3, 29, 1, 15, tzinfo=UTC)),
    (HOURS, "Not/AZone", NOW, datetime(2026, 3, 29, 7, tzinfo=UTC)),
    # The day is the one on which the hours begin: in Madrid it is Sunday already, in the night of Saturday.
    (HOURS | {"quiet_hours_days": SATURDAY}, "Europe/Madrid", NOW, datetime(2026, 3, 29, 5, tzinfo=UTC)),
    (HOURS | {"quiet_hours_days": SUNDAY}, "Europe/Madrid", NOW, None),
    (HOURS | {"quiet_hours_days": 0}, "", NOW, None),
    # Within a day; a whole day.
    (HOURS | {"quiet_hours_start": 1380, "quiet_hours_end": 1439}, "", NOW, datetime(2026, 3, 28, 23, 59, tzinfo=UTC)),
    (HOURS | {"quiet_hours_start": 0, "quiet_hours_end": 0}, "", NOW, datetime(2026, 3, 29, tzinfo=UTC)),
    # A pause counts without hours, and beside them: the later end.
    ({"notifications_paused_until": int(NOW.timestamp()) + 60}, "", NOW, NOW + timedelta(seconds=60)),
    ({"notifications_paused_until": int(NOW.timestamp())}, "", NOW, None),
    (HOURS | {"notifications_paused_until": int(NOW.timestamp()) + 60}, "", NOW, datetime(2026, 3, 29, 7, tzinfo=UTC)),
)


@pytest.mark.parametrize(("chosen", "timezone", "now", "end"), QUIET_ROWS)
def test_in_quiet_hours_nothing_is_pushed_and_the_mail_waits(
    chosen: dict[str, Any], timezone: str, now: datetime, end: datetime | None
) -> None:
    settings = msgspec.json.encode(chosen).decode()
    assert quiet_until(read_settings(settings), timezone, now) == end
    decision = decide(msgspec.structs.replace(PLAIN, settings=settings, timezone=timezone, now=now))
    assert decision.push == (None if end else "direct_message")
    assert (decision.mail, decision.is_quiet) == ("direct_message", end is not None)
