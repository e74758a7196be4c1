"""One file of a multipart body, handed on while it arrives: for endpoints that stream."""

from collections.abc import AsyncIterator
from typing import IO, Any, cast

from tertulia.kernel.body import body_chunks
from tertulia.kernel.call import Call, UploadedFile
from tertulia.kernel.errors import Refusal
from tertulia.kernel.multipart import MultipartReader

MAX_TEXT = 64 * 1024
"""Of all fields beside the file."""
ROOM = 256 * 1024
"""What a body may have besides the file."""


class _Sink:
    """Takes the bytes of a file until somebody collects them."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.parts.append(data)

    def collect(self) -> bytes:
        parts, self.parts = self.parts, []
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def seek(self, _position: int) -> None:
        """It is read only once."""

    def close(self) -> None:
        """Nothing is kept."""


class OneFile:
    """The one file of a request. `open` first, then the chunks."""

    def __init__(self, call: Call, max_size: int) -> None:
        self._call = call
        self._files: list[UploadedFile] = []
        self._fields: dict[str, Any] = {}
        self._sinks: list[_Sink] = []
        self._body = body_chunks(call, max_size + ROOM, kept=MAX_TEXT)
        self._reader: MultipartReader | None = None

    async def open(self) -> str:
        """Read up to the file; its name as it was sent."""
        kind = self._call.raw_headers.get(b"content-type", b"")
        if kind.partition(b";")[0].strip().lower() == b"multipart/form-data":
            self._reader = MultipartReader(kind, self._fields, self._files, keep=self._make_sink, max_text=MAX_TEXT)
            async for chunk in self._body:
                self._reader.feed(chunk)
                if self._files:
                    return self._files[0].filename
            self._reader.finish()
        raise Refusal("You must specify a file to upload.")

    async def chunks(self) -> AsyncIterator[bytes]:
        """The file. Refuses a second one, and a body that breaks off."""
        assert self._reader is not None
        yield self._collect()
        async for chunk in self._body:
            self._reader.feed(chunk)
            yield self._collect()
        self._reader.finish()
        self._call.ignored = sorted({*(self._call.ignored or ()), *(self._fields.keys() - {"client"})}) or None

    def _collect(self) -> bytes:
        if len(self._files) > 1:
            raise Refusal("You may only upload one file at a time.")
        return self._sinks[0].collect()

    def _make_sink(self) -> IO[bytes]:
        self._sinks.append(_Sink())
        return cast("IO[bytes]", self._sinks[-1])
