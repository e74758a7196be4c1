"""Multipart bodies: fields become parameters, files are kept beside them.

A body is parsed while it arrives, so that a large file is never held in memory twice. Fields are text: anything that is
not UTF-8 is refused by whoever reads it, like everywhere else.
"""

from collections.abc import Callable
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header

from tertulia.kernel.call import UploadedFile
from tertulia.kernel.errors import Refusal
from tertulia.kernel.urlencoded import MAX_FIELDS, check_name, check_text, text_of, too_many_fields

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MAX_FILES = 20
MAX_PART_HEADER = 2048
MAX_PART_HEADERS = 16
MAX_HEADER_BYTES = 64 * 1024
"""Of all parts together: reading them takes far longer than reading what is in the parts."""
MEMORY_PER_FILE = 1024 * 1024


class MultipartReader:
    """Feeds a parser and collects what it finds."""

    def __init__(
        self,
        content_type: bytes,
        fields: dict[str, Any],
        files: list[UploadedFile],
        *,
        keep: Callable[[], IO[bytes]] = partial(SpooledTemporaryFile, max_size=MEMORY_PER_FILE),  # closed with the call
        max_text: int | None = None,
    ) -> None:
        if len(content_type) > MAX_PART_HEADER:
            raise _malformed()
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary or len(boundary) > 200:
            raise _malformed()
        callbacks: MultipartCallbacks = {
            "on_part_begin": self._begin_part,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._open_part,
            "on_part_data": self._part_data,
            "on_part_end": self._end_part,
            "on_end": self._end,
        }
        # The parser holds the two bounds of headers itself: a part without an end of its headers is no way to fill memory.
        self._parser = MultipartParser(
            boundary, callbacks, max_header_count=MAX_PART_HEADERS, max_header_size=MAX_PART_HEADER
        )
        self._keep = keep
        self._room = max_text
        self._fields = fields
        self._files = files
        self._parts = 0
        self._header_room = MAX_HEADER_BYTES
        self._begun = False
        self._ended = False
        self._begin_part()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the body."""
        if not self._begun:
            # The parser would go on from a leading line break to the next hyphen, but only within one chunk: whether
            # the same body is read would hang on how it was cut.
            chunk = chunk.lstrip(b"\r\n")
            self._begun = bool(chunk)
        try:
            self._parser.write(chunk)
        except MultipartParseError:
            raise _malformed() from None

    def finish(self) -> None:
        """The body is over; refuse one that broke off."""
        if not self._ended:
            raise _malformed()

    def _begin_part(self) -> None:
        self._headers: dict[bytes, bytes] = {}
        self._name = b""
        self._value = b""
        self._text = bytearray()
        self._upload: UploadedFile | None = None

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._header_room -= len(self._name) + len(self._value)
        if self._header_room < 0:
            raise Refusal(f"The headers in the multipart body are too long (limit: {MAX_HEADER_BYTES} bytes)")
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _open_part(self) -> None:
        self._parts += 1
        if self._parts > MAX_FIELDS:
            raise too_many_fields()
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        if b"name" not in options:
            raise _malformed()
        self._field = check_name(options[b"name"])
        filename = options.get(b"filename")
        if filename is None:
            return
        if len(self._files) >= MAX_FILES:
            raise Refusal(f"The request has too many files (limit: {MAX_FILES})")
        kind = self._headers.get(b"content-type", b"").decode("latin-1")
        self._upload = UploadedFile(self._field, check_text(filename), kind, self._keep())
        self._files.append(self._upload)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._upload is None:
            self._text += data[start:end]
            if self._room is not None:
                self._room -= end - start
                if self._room < 0:
                    raise Refusal("The fields beside the file are too long")
        else:
            self._upload.file.write(data[start:end])
            self._upload.size += end - start

    def _end_part(self) -> None:
        if self._upload is None:
            self._fields[self._field] = text_of(bytes(self._text))
        else:
            self._upload.file.seek(0)

    def _end(self) -> None:
        self._ended = True


def _malformed() -> Refusal:
    return Refusal("The multipart body is malformed")
