"""Which CBOR is read at all: what authenticators send, and nothing with which a library could be made to work for long."""

import cbor2
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tertulia.people.factors.passkeys.cbor import (
    MAX_DEPTH,
    MAX_ITEMS,
    Harmful,
    check_authenticator_data,
    check_cbor,
)

HEAD = bytes(32)
COUNT = bytes(4)
KEY = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)})
PLAIN = (int, float, bytes, str, list, dict, cbor2.CBORSimpleValue, type(cbor2.undefined))
ATTESTED = bytes(16) + b"\x00\x14" + bytes(20)

simple = st.one_of(st.integers(-(2**64), 2**64 - 1), st.binary(max_size=40), st.text(max_size=40), st.booleans())
plain = st.recursive(simple, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        cbor2.dumps(cbor2.CBORTag(35, "x")),
        cbor2.dumps({"a": [cbor2.CBORTag(2, b"x")]}),
        cbor2.dumps({cbor2.CBORTag(35, "x"): 1}),
        bytes.fromhex("9fff"),
        bytes.fromhex("bfff"),
        bytes.fromhex("5f4101ff"),
        bytes.fromhex("7f6161ff"),
        bytes.fromhex("ff"),
        bytes.fromhex("1c"),
        bytes.fromhex("9bffffffffffffffff"),
        bytes.fromhex("5bffffffffffffffff00"),
        bytes.fromhex("4400"),
        bytes.fromhex("19ff"),
        bytes.fromhex("0000"),
        b"\x81" * (MAX_DEPTH + 1) + b"\x00",
        b"\x81" * 5000,
        cbor2.dumps([0] * MAX_ITEMS),
    ],
    ids=lambda data: data[:12].hex(),
)
def test_what_no_authenticator_sends_is_refused(data: bytes) -> None:
    with pytest.raises(Harmful):
        check_cbor(data)


@pytest.mark.parametrize("data", [b"\x81" * MAX_DEPTH + b"\x00", cbor2.dumps([0] * (MAX_ITEMS - 1)), KEY])
def test_up_to_the_bounds_it_is_taken(data: bytes) -> None:
    check_cbor(data)


@given(plain, st.binary(min_size=1, max_size=3))
def test_the_end_is_found_where_the_library_finds_it(value: object, more: bytes) -> None:
    data = cbor2.dumps(value)
    try:
        check_cbor(data)
    except Harmful:
        assume(False)  # too deep, or too many items
    with pytest.raises(Harmful):
        check_cbor(data + more)


@given(st.binary(max_size=60))
def test_the_library_makes_nothing_but_plain_values_of_what_is_taken(data: bytes) -> None:
    try:
        check_cbor(data)
        found = cbor2.loads(data)
    except (Harmful, cbor2.CBORDecodeError):
        return
    assert found is None or isinstance(found, PLAIN)


@pytest.mark.parametrize(
    ("flags", "rest"),
    [
        (0x05, b""),
        (0x45, ATTESTED + KEY),
        (0xC5, ATTESTED + KEY + cbor2.dumps({"credProtect": 2})),
        (0x85, cbor2.dumps({"hmac-secret": bytes(80)})),
    ],
)
def test_authenticator_data_is_taken_as_it_is_built(flags: int, rest: bytes) -> None:
    data = HEAD + bytes([flags]) + COUNT + rest
    check_authenticator_data(data)
    for broken in (data[:-1], data + b"\x00", data + bytes(2500)):
        with pytest.raises(Harmful):
            check_authenticator_data(broken)


@pytest.mark.parametrize(
    ("flags", "rest"),
    [
        (0x45, ATTESTED + cbor2.dumps([1])),
        (0x85, cbor2.dumps({"x": cbor2.CBORTag(35, "x")})),
        (0x45, ATTESTED + cbor2.dumps({1: cbor2.CBORTag(35, "x")})),
        # A number written longer than it must be: the library would look for the extensions two bytes too early.
        (0xC5, ATTESTED + bytes.fromhex("a1190001" + "42a0a0") + cbor2.dumps({})),
        (0x45, bytes(16) + b"\xff\xff" + bytes(20) + KEY),
    ],
)
def test_other_authenticator_data_is_refused(flags: int, rest: bytes) -> None:
    with pytest.raises(Harmful):
        check_authenticator_data(HEAD + bytes([flags]) + COUNT + rest)
