"""The model of what growth costs (bench/model.py): its arithmetic, without a machine."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model import ROOM, Call, Constants, Usage, hour, load_of, people_on

CALL = st.builds(Call, *(st.floats(1e-6, 1e-2) for _ in range(5)))
CALLS = ("send", "poll", "typing", "mark", "fetch", "ping", "registration")
BYTES = ("waiting_bytes", "message_bytes", "log_bytes", "event_bytes")
CONSTANTS: st.SearchStrategy[Constants] = st.builds(
    Constants, **dict.fromkeys(CALLS, CALL), **{name: st.floats(1, 1e5) for name in BYTES}
)


def constants_of(call: Call, each_bytes: float) -> Constants:
    return msgspec.convert(
        {name: msgspec.to_builtins(call) for name in CALLS} | dict.fromkeys(BYTES, each_bytes), Constants
    )


@given(constants=CONSTANTS, people=st.integers(1, 10_000_000))
def test_what_people_need_together_is_what_each_of_them_needs(constants: Constants, people: int) -> None:
    one, many = load_of(constants, Usage(), 1), load_of(constants, Usage(), people)
    assert many.cores.whole == pytest.approx(one.cores.whole * people)
    assert many.memory_bytes == pytest.approx(one.memory_bytes * people)
    assert many.heard_per_second == pytest.approx(one.heard_per_second * people)


@given(constants=CONSTANTS, cores=st.integers(1, 1000))
def test_as_many_people_as_cores_carry_keep_them_as_busy_as_they_may_be(constants: Constants, cores: int) -> None:
    carried = people_on(constants, Usage(), cores)
    spent = carried * sum(call.whole for call in hour(constants, Usage()).values())
    assert spent == pytest.approx(cores * 3600 * ROOM)
    assert load_of(constants, Usage(), carried).cores.whole == pytest.approx(cores)


def test_whoever_does_nothing_costs_what_waiting_costs() -> None:
    constants = constants_of(Call(web=0.001), 500)
    silent = Usage(sends=0, changes=0, typing=0, marks=0, fetches=0, registrations=0)
    kinds = hour(constants, silent)
    assert {kind for kind, call in kinds.items() if call.whole} == {"presence", "heartbeats"}
    assert load_of(constants, silent, 1000).network_bits_per_second == 0


def test_an_event_is_heard_by_all_who_listen() -> None:
    usage = Usage(sends=2, changes=1, typing=3, marks=0, listeners=10)
    assert usage.events == 60
    heard = load_of(constants_of(Call(), 100), usage, 3600)
    assert (heard.messages_per_second, heard.heard_per_second) == (3, 60)
    assert heard.network_bits_per_second == 60 * 100 * 8
