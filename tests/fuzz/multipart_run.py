"""Multipart bodies, right ones and broken ones, in pieces of any size: refused or read, and always the same.

bin/fuzz multipart --minutes 60 --seed 5
"""

import sys
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from tertulia.kernel.call import UploadedFile
from tertulia.kernel.errors import Refusal
from tertulia.kernel.multipart import MultipartReader
from tests.fuzz.for_minutes import for_minutes
from tests.fuzz.values import HOSTILE_TEXTS

MOST_SECONDS = 2.0
PIECES = (
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"--",
        b"\r\n\r\n",
        b":",
        b";",
        b"=",
        b'"',
        b"\\",
        b"\x00",
        b"\xff",
        b"\r\n--b",
        b"--b--",
        b"b",
    ),
    b"Content-Disposition: form-data; name=",
    b"Content-Disposition: form-data; name*=UTF-8''x; filename*=UTF-8''%00",
    b"Content-Type: text/plain; charset=utf-16",
    b"Content-Transfer-Encoding: base64",
    b"X: " + b"y" * 9_000,
    b"Z" * 5_000,
)


class Body(NamedTuple):
    content_type: bytes
    data: bytes
    cuts: tuple[int, ...]
    """Where it is cut into pieces."""


def make(random: Random) -> Body:
    boundary = random.choice((b"b", b"----x" * 10, b"b" * 70, b"'()+_,-./:=?"))
    parts = [_part(random) for _ in range(random.choice((0, 1, 2, 5, 30)))]
    data = b"".join(b"--" + boundary + b"\r\n" + part for part in parts) + b"--" + boundary + b"--\r\n"
    for _ in range(random.choice((0, 0, 1, 2, 5))):
        at, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
        piece = random.choice(PIECES)
        data = random.choice(
            (data[:at] + piece + data[at:], data[:at] + piece + data[end:], data[:at] + data[end:], data[:at])
        )
        data = data or b"-"
    quoted = b'"' + boundary + b'"' if random.random() < 0.5 else boundary
    usual = b"multipart/form-data; boundary=" + quoted
    content_type = (
        usual if random.random() < 0.9 else random.choice((b"multipart/form-data", b"multipart/x; boundary="))
    )
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.choice((0, 1, 3, 40))))
    return Body(content_type, data, tuple(cuts))


def _part(random: Random) -> bytes:
    name = random.choice(("content", "file", "é", "a" * 300, *HOSTILE_TEXTS[:8])).encode("utf-8", "replace")
    file = random.choice((b"", b"", b'; filename="a.txt"', b'; filename=""', b'; filename="..\\..\\x\x00"'))
    value = random.choice(HOSTILE_TEXTS).encode("utf-8", "replace") * random.choice((0, 1, 1, 20))
    kind = random.choice((b"", b"\r\nContent-Type: image/png", b"\r\n" + random.choice(PIECES[15:])))
    return b'Content-Disposition: form-data; name="' + name + b'"' + file + kind + b"\r\n\r\n" + value + b"\r\n"


def check(body: Body) -> None:
    began = time.process_time()
    whole = _read(body.content_type, [body.data])
    ends = (0, *body.cuts, len(body.data))
    pieces = _read(body.content_type, [body.data[at:end] for at, end in pairwise(ends)])
    took = time.process_time() - began
    assert took < MOST_SECONDS, f"{took:.1f} s of CPU"
    assert whole == pieces, f"as a whole: {whole!r}\nin pieces: {pieces!r}"


def _read(content_type: bytes, pieces: Iterable[bytes]) -> Any:
    """Its fields and files; or None if it was refused."""
    fields: dict[str, Any] = {}
    files: list[UploadedFile] = []
    try:
        reader = MultipartReader(content_type, fields, files)
        for piece in pieces:
            reader.feed(piece)
        reader.finish()
    except Refusal:
        return None
    finally:
        contents = [(file.field, file.filename, file.content_type, file.file.read()) for file in files]
        for file in files:
            file.file.close()
    return fields, contents


def main(arguments: Sequence[str]) -> int:
    return for_minutes("multipart", __doc__ or "", arguments, make, check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
