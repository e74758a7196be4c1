"""How the gate for cost judges, and what it counts, without a server."""

import pytest

from bench.gate.baseline import PARSED, PER_COMMIT, PLANNED, POSTGRES, ROWS, STATEMENTS, WAL, WEB, Baseline, best, judge
from bench.gate.case import bare_request, middle_mean
from bench.gate.cases import CASES
from bench.gate.counting import Asked, Record, asked_by, parse_records, written_by

RECORDED = {WEB: 6.0, POSTGRES: 3.0, STATEMENTS: 6.0, PARSED: 0.0, PLANNED: 0.0, ROWS: 4.0, WAL: 2400.0}
BASELINE = Baseline(
    "2026-11-01", "abc1234", {}, {"send": RECORDED, "crowd": {POSTGRES: 3.0, PER_COMMIT: 4.0, ROWS: 2.0}}
)

LOG = b"""\
2026-11-01 10:00:00.000 UTC [7] LOG:  duration: 0.010 ms  statement: BEGIN;
2026-11-01 10:00:00.001 UTC [7] LOG:  duration: 0.200 ms  parse __asyncpg_stmt_3__:
\tselect id from conversation
2026-11-01 10:00:00.001 UTC [7] LOG:  PLANNER STATISTICS
2026-11-01 10:00:00.001 UTC [7] DETAIL:  ! system usage stats:
2026-11-01 10:00:00.001 UTC [7] LOG:  duration: 0.200 ms  bind __asyncpg_stmt_3__:
2026-11-01 10:00:00.002 UTC [7] LOG:  duration: 0.100 ms  execute __asyncpg_stmt_3__:
\tselect id from conversation
2026-11-01 10:00:00.003 UTC [7] LOG:  duration: 0.100 ms  statement: COMMIT;
2026-11-01 10:00:00.003 UTC [7] LOG:  duration: 0.100 ms  execute __asyncpg_stmt_4__:
2026-11-01 10:00:00.003 UTC [8] LOG:  duration: 0.100 ms  statement: select 'of another process'
"""


def failed(found: dict[str, float], *, case: str = "send", is_alone: bool = True) -> set[str]:
    verdicts = judge(case, found, BASELINE, is_alone=is_alone, within=0.2)
    return {verdict.kind for verdict in verdicts if verdict.has_failed}


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({}, set()),
        ({WEB: 7.1, POSTGRES: 3.5}, set()),
        ({WEB: 7.3}, {WEB}),
        ({POSTGRES: 3.7}, {POSTGRES}),
        ({STATEMENTS: 7.0}, {STATEMENTS}),
        ({PARSED: 1.0}, {PARSED}),
        ({PLANNED: 1.0}, {PLANNED}),
        ({ROWS: 5.0}, {ROWS}),
        ({WAL: 2450.0}, set()),
        ({WAL: 2500.0}, {WAL}),
        ({WEB: 1.0, STATEMENTS: 5.0, ROWS: 1.0}, set()),
    ],
)
def test_a_figure_fails_when_it_is_worse_than_it_may_be(change: dict[str, float], kinds: set[str]) -> None:
    assert failed(RECORDED | change) == kinds


def test_where_requests_meet_counts_may_differ_a_little_but_one_more_statement_may_not() -> None:
    assert failed({PER_COMMIT: 4.1, ROWS: 2.3}, case="crowd", is_alone=False) == set()
    assert failed({PER_COMMIT: 5.0, ROWS: 2.5}, case="crowd", is_alone=False) == {PER_COMMIT, ROWS}


def test_where_requests_meet_processor_time_may_differ_by_half() -> None:
    assert failed({POSTGRES: 4.4}, case="crowd", is_alone=False) == set()
    assert failed({POSTGRES: 4.6}, case="crowd", is_alone=False) == {POSTGRES}


def test_a_case_that_was_never_recorded_fails() -> None:
    assert failed({WEB: 1.0}, case="new") == {WEB}


def test_a_failure_says_which_figure_by_how_much_and_against_what() -> None:
    [verdict] = judge("send", {WEB: 9.0}, BASELINE, is_alone=True, within=0.2)
    assert verdict.words == (
        "send, web CPU: 9 times what bare uvicorn takes to answer, recorded 6 (+50%); +20% would pass"
    )


def test_the_best_of_the_tries_counts() -> None:
    assert best([{WEB: 9.0, ROWS: 4.0}, {WEB: 6.0, ROWS: 5.0}]) == {WEB: 6.0, ROWS: 4.0}


def test_every_case_is_recorded() -> None:
    recorded = Baseline.read().cases
    assert list(recorded) == [case.name for case in CASES]


def test_statements_are_counted_for_the_processes_that_were_asked_for() -> None:
    assert asked_by(LOG, {7}) == Asked(statements=4, parsed=1, planned=1, commits=1, in_commits=3)


def test_rows_and_bytes_are_those_of_transactions_between_two_places_but_not_of_the_relay() -> None:
    tables = {10: "message", 20: "relay_checkpoint"}
    records = [
        Record(90, 1, 500, 10, "inserted", 1),  # before
        Record(100, 2, 300, 10, "inserted", 2),
        Record(110, 2, 40, 0, "", 0),
        Record(120, 3, 60, 20, "updated", 1),
        Record(130, 3, 40, 0, "", 0),
        Record(140, 0, 50, 0, "", 0),  # of no transaction
        Record(200, 4, 70, 10, "deleted", 1),  # after
    ]
    rows, total = written_by(records, tables, 100, 200)
    assert (rows, total) == ({"message inserted": 2}, 340)


def test_how_full_a_page_was_does_not_count() -> None:
    line = (
        "rmgr: {kind} len (rec/tot):     62/    62, tx:        758, lsn: 0/0{lsn}, prev 0/01, "
        "desc: {what}, blkref #0: rel 1663/5/10 blk 2"
    )
    text = "\n".join(
        line.format(kind=kind, lsn=lsn, what=what)
        for lsn, kind, what in (
            ("100", "Heap2      ", "PRUNE_ON_ACCESS snapshotConflictHorizon: 757, nplans: 0"),
            ("140", "Heap2      ", "PRUNE snapshotConflictHorizon: 757"),
            ("180", "Heap       ", "HOT_UPDATE old_xmax: 758"),
            ("1C0", "Heap2      ", "MULTI_INSERT ntuples: 3, flags: 0x02"),
        )
    )
    rows, total = written_by(parse_records(text), {10: "topic"}, 0, 1000)
    assert (rows, total) == ({"topic updated": 1, "topic inserted": 3}, 124)


def test_strays_do_not_count() -> None:
    assert middle_mean([1.0, 5.0, 5.0, 6.0, 6.0, 99.0]) == 5.5


def test_the_reference_gets_the_same_request_for_an_answer_of_the_same_size() -> None:
    asked = b"GET /api/v1/messages?anchor=5 HTTP/1.1\r\nHost: x\r\n\r\n"
    assert bare_request(asked, 12) == b"GET /bytes/12?anchor=5 HTTP/1.1\r\nHost: x\r\n\r\n"
