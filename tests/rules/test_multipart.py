"""Reading a multipart body takes a moment, whatever is in it: nobody else is answered meanwhile."""

import time
from typing import Any

import pytest

from tertulia.kernel.errors import Refusal
from tertulia.kernel.multipart import MAX_HEADER_BYTES, MAX_PART_HEADER, MultipartReader
from tertulia.kernel.urlencoded import MAX_FIELDS

TYPE = b"multipart/form-data; boundary=b"


def part(name: str, more: bytes = b"") -> bytes:
    return b'--b\r\nContent-Disposition: form-data; name="%b"%b\r\n\r\nx\r\n' % (name.encode(), more)


def read(body: bytes, kind: bytes = TYPE) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    reader = MultipartReader(kind, fields, [])
    reader.feed(body + b"--b--\r\n")
    reader.finish()
    return fields


def test_as_many_fields_as_may_be_have_room() -> None:
    assert len(read(b"".join(part(f"field{number}") for number in range(MAX_FIELDS)))) == MAX_FIELDS


def test_headers_of_parts_have_an_end_together_and_the_worst_of_them_is_read_soon() -> None:
    slow = b'; x="' + b";" * (MAX_PART_HEADER - 200)
    fits = MAX_HEADER_BYTES // (len(slow) + 60)
    began = time.thread_time()
    assert len(read(b"".join(part(f"f{number}", slow) for number in range(fits)))) == fits
    assert time.thread_time() - began < 1
    with pytest.raises(Refusal, match="headers in the multipart body"):
        read(b"".join(part(f"f{number}", slow) for number in range(fits + 5)))


@pytest.mark.parametrize("length", [MAX_PART_HEADER, 60_000])
def test_a_long_header_is_refused(length: int) -> None:
    with pytest.raises(Refusal):
        read(part("f", b'; x="' + b";" * length))
    with pytest.raises(Refusal):
        read(part("f"), TYPE + b'; x="' + b";" * length)
