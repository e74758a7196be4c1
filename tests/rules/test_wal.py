"""The bytes that the replication slot sends, and what they mean."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.events.log.stream import POS_ZERO
from tertulia.events.relay import wal

lsns = st.integers(0, 2**63 - 1)
indexes = st.integers(0, 3_000_000)


def message(prefix: bytes, content: bytes, flags: int = 1) -> bytes:
    return b"M" + struct.pack(">BQ", flags, 7) + prefix + b"\0" + struct.pack(">I", len(content)) + content


@given(lsns, st.integers(0, 2**50))
def test_a_begin_gives_the_commits_position_and_time_and_its_transaction(lsn: int, microseconds: int) -> None:
    parsed = wal.parse(b"B" + struct.pack(">QqI", lsn, microseconds, 5))
    assert isinstance(parsed, wal.Begin)
    assert (parsed.commit_lsn, parsed.xid) == (lsn, 5)
    assert parsed.committed_at == pytest.approx(946_684_800 + microseconds / 1e6)


@given(lsns, lsns)
def test_a_commit_gives_the_end_of_the_transaction(lsn: int, end: int) -> None:
    assert wal.parse(b"C" + struct.pack(">BQQq", 0, lsn, end, 0)) == wal.Commit(end)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.binary())
def test_a_message_keeps_its_prefix_and_every_byte_of_its_content(prefix: str, content: bytes) -> None:
    assert wal.parse(message(prefix.encode(), content)) == wal.Message(prefix, content)


def test_messages_outside_of_a_transaction_and_unknown_kinds_mean_nothing() -> None:
    assert wal.parse(message(b"ev.0.1", b"1 {}", flags=0)) is None
    for kind in (b"R", b"I", b"U", b"Y", b"O", b"T", b""):
        assert wal.parse(kind + b"whatever") is None


@given(st.integers(0, 3), st.integers(0, 2**63 - 1), st.integers(0, 2**64 - 1), st.binary())
def test_an_event_is_its_shard_its_subject_its_transaction_and_its_bytes(
    shard: int, realm: int, xid: int, data: bytes
) -> None:
    content = str(xid).encode() + b" " + data
    subject = f"ev.{shard}.{realm}"
    assert wal.parse_event(wal.Message(subject, content), 4, xid % 2**32) == wal.Event(shard, subject, xid, data)


@pytest.mark.parametrize(
    "prefix", ["ev.4.1", "ev.0", "ev.0.1.2", "ev.0.>", "ev.0.*", "ev.0. 1", "ev.00.1", "ev.0.01", "ev.-1.1"]
)
def test_only_the_subject_of_a_realm_in_one_of_our_shards_is_accepted(prefix: str) -> None:
    with pytest.raises(wal.MalformedEvent):
        wal.parse_event(wal.Message(prefix, b"1 {}"), 4, 1)


@pytest.mark.parametrize("content", [b"", b"1", b" {}", b"x {}", b"-1 {}", b"{}"])
def test_an_event_without_its_transaction_id_is_refused(content: bytes) -> None:
    with pytest.raises(wal.MalformedEvent):
        wal.parse_event(wal.Message("ev.0.1", content), 4, 1)


def test_an_event_with_the_number_of_another_transaction_is_refused_and_waited_for_by_nobody() -> None:
    with pytest.raises(wal.MalformedEvent):
        wal.parse_event(wal.Message("ev.0.1", b"7 {}"), 4, 8)


@given(lsns, indexes, lsns, indexes)
def test_positions_compare_as_commits_do(lsn: int, index: int, other_lsn: int, other_index: int) -> None:
    one, other = wal.position(lsn, index), wal.position(other_lsn, other_index)
    assert wal.position_key(one) == (lsn, index)
    assert (wal.position_key(one) < wal.position_key(other)) == ((lsn, index) < (other_lsn, other_index))
    if max(index, other_index) < 1_000_000:
        assert (one < other) == ((lsn, index) < (other_lsn, other_index))


def test_the_zero_position_is_before_every_real_one() -> None:
    assert wal.position_key(POS_ZERO) == (0, 0)
    assert wal.position(1, 0) > POS_ZERO


@given(lsns)
def test_a_log_position_survives_the_way_through_postgresqls_text(lsn: int) -> None:
    assert wal.parse_lsn(wal.format_lsn(lsn)) == lsn
