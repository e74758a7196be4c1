"""What the status page makes of facts: states, words, and since when."""

from datetime import UTC, datetime

import msgspec
import pytest

from tertulia.server.status.page import page_of
from tertulia.server.status.rules import Facts, Part, Slot, State, Waiting, parts_of, worst
from tertulia.server.status.watch import Lateness, Said

SLOT = Slot(is_active=True, is_lost=False, kept_bytes=1_000, flushed=5_000, stored=5_000)
GOOD = Facts(
    slot=SLOT, relays=1, workers=1, webs=1, postgres_most_connections=100, free_bytes=10**11, disk_bytes=10**12
)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def said_of(name: str, late: float = 0.0, **changed: object) -> Part:
    parts = parts_of(msgspec.structs.replace(GOOD, **changed), late)
    return next(part for part in parts if part.name == name)


def test_where_nothing_is_wrong_all_is_healthy_and_there_is_nothing_to_do() -> None:
    parts = parts_of(GOOD, 0.0)
    assert {part.name for part in parts} == {"PostgreSQL", "NATS", "Relay", "Worker", "Web", "Mail", "Disk"}
    assert {(part.state, part.do) for part in parts} == {(State.HEALTHY, "")}
    assert worst(parts) is State.HEALTHY


@pytest.mark.parametrize(
    ("name", "changed", "state", "says"),
    [
        ("PostgreSQL", {"postgres_error": "refused"}, State.DOWN, "It cannot be used: refused"),
        ("PostgreSQL", {"is_standby": True}, State.DOWN, "standby"),
        ("PostgreSQL", {"postgres_connections": 95}, State.BEHIND, "95 of 100 connections"),
        ("NATS", {"nats_error": "no answer"}, State.DOWN, "no answer"),
        ("Relay", {"slot": None}, State.DOWN, "No relay carries events"),
        ("Relay", {"slot": msgspec.structs.replace(SLOT, is_active=False)}, State.DOWN, "nobody hears"),
        ("Relay", {"slot": msgspec.structs.replace(SLOT, is_lost=True)}, State.DOWN, "no longer has"),
        ("Relay", {"slot": msgspec.structs.replace(SLOT, kept_bytes=6 * 10**9)}, State.BEHIND, "keeps 6 GiB of log"),
        ("Relay", {"late": 300.0}, State.BEHIND, "about 5 minutes late"),
        ("Worker", {"workers": 0}, State.DOWN, "None runs"),
        ("Worker", {"waiting": [Waiting("mails", 1200, 7300.0)]}, State.BEHIND, "mails: 1,200, the oldest for 2 hours"),
        ("Mail", {"has_mail": False}, State.BEHIND, "None is sent"),
        ("Disk", {"free_bytes": 10**9}, State.BEHIND, "954 MiB (0 %) are free"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(name: str, changed: dict[str, object], state: State, says: str) -> None:
    part = said_of(name, **changed)  # type: ignore[arg-type]
    assert (part.state, says in part.says) == (state, True), part
    assert part.do


def test_a_relay_that_waits_is_not_to_be_started() -> None:
    waiting = msgspec.structs.replace(SLOT, is_active=False)
    assert said_of("Relay", slot=waiting, relays=0).do.startswith("Start `tertulia relay`")
    assert said_of("Relay", slot=waiting, relays=1).do.startswith("One is connected")


def test_without_postgresql_nothing_is_said_of_what_only_it_knows() -> None:
    parts = parts_of(msgspec.structs.replace(GOOD, postgres_error="away", slot=None, workers=0), 0.0)
    assert {part.name for part in parts} == {"PostgreSQL", "NATS", "Disk"}
    assert worst(parts) is State.DOWN


def test_events_are_as_late_as_the_log_is_known_to_be_further_than_they_are_stored() -> None:
    lateness = Lateness()
    assert lateness.of(_slot(100, 100), 0.0) == 0
    assert lateness.of(_slot(200, 100), 15.0) == 0, "it may just have been committed"
    assert lateness.of(_slot(300, 100), 30.0) == 15
    assert lateness.of(_slot(400, 250), 45.0) == 15, "what was committed up to second 15 is stored"
    assert lateness.of(_slot(400, 400), 60.0) == 0
    assert lateness.of(None, 75.0) == 0


def test_events_are_not_called_late_because_nobody_has_read_the_page_for_long() -> None:
    lateness = Lateness()
    assert lateness.of(_slot(100, 100), 0.0) == 0
    assert lateness.of(_slot(900, 800), 3600.0) == 0


def test_whoever_opens_the_page_first_reads_that_events_are_stored_only_up_to_before_a_checkpoint() -> None:
    slot = msgspec.structs.replace(_slot(300, 100), late_seconds=240.0)
    assert Lateness().of(slot, 0.0) == 240
    assert Lateness().of(msgspec.structs.replace(slot, stored=300), 0.0) == 0


def test_a_server_that_does_nothing_is_not_late() -> None:
    lateness = Lateness()
    assert [lateness.of(_slot(100, 90), second) for second in (0.0, 15.0)] == [0, 15]
    assert lateness.of(_slot(100, 100), 1000.0) == 0


def _slot(flushed: int, stored: int) -> Slot:
    return msgspec.structs.replace(SLOT, flushed=flushed, stored=stored)


def test_the_page_shows_what_is_wrong_first_and_takes_nothing_for_markup() -> None:
    good = Said(Part("Mail", State.HEALTHY, "Fine."), NOW)
    bad = Said(
        Part("NATS", State.DOWN, "It says <script>alert(1)</script>", "Run `tertulia doctor`.", "docs/x.md#y"), NOW
    )
    page = page_of(State.DOWN, NOW, [good, bad])
    assert page.index("NATS") < page.index(">Mail<")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<code>tertulia doctor</code>" in page
    assert "since 2026-01-02 03:04:05 UTC" in page
