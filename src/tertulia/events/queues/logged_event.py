"""An event of the log in this process: decoded once, serialized once per variant.

A newer version may write kinds of events that this program does not know. Nobody here is given one: only a program that knows the
kind knows what of it is for whom. Who registered with this version has no state that it would change; a queue that was registered
with another version ends (queue.py), so that no change is missing. What such an event does to memberships, queues and credentials
is done like any other's.
"""

from collections.abc import Container, Hashable
from typing import Protocol

import msgspec

from tertulia.events.log.record import Audience, Numbered, Record
from tertulia.events.log.stream import Stored
from tertulia.events.queues.options import QueueOptions

_decoder = msgspec.json.Decoder(Record)
_number_decoder = msgspec.json.Decoder(Numbered)
_NOBODY = Audience()
_NOTHING = Record(to=_NOBODY, type="", event=msgspec.Raw(b"{}"))


class Listener(Protocol):
    """What a presenter may know of the queue it writes for."""

    @property
    def id(self) -> str: ...
    @property
    def user_id(self) -> int: ...
    @property
    def role(self) -> int: ...
    @property
    def options(self) -> QueueOptions: ...


class Presenter(Protocol):
    """How a feature shows its events to different listeners."""

    def variant(self, logged: "LoggedEvent", listener: Listener) -> Hashable:
        """Listeners with equal variants get the same bytes."""
        ...

    def present(self, logged: "LoggedEvent", listener: Listener) -> bytes:
        """The event's keys as JSON text without the outer braces; `type` and `id` are added."""
        ...


class LoggedEvent:
    """One entry of a realm's log."""

    __slots__ = (
        "_variants",
        "decoded",
        "is_broken",
        "is_silent",
        "is_unknown",
        "number",
        "pos",
        "record",
        "seq",
        "size",
        "timeline",
        "xid",
        "xmax",
    )

    def __init__(self, stored: Stored, kinds: Container[str] | None = None) -> None:
        self.seq = stored.seq
        self.pos = stored.pos
        self.timeline = stored.timeline
        self.xid = stored.xid
        self.xmax = stored.xmax
        self.number: int | None = None
        """The event's number in the channel of its audience, if it has one."""
        try:
            self.record = _decoder.decode(stored.data)
            if self.record.stamp:
                self.number = _number_decoder.decode(self.record.stamp).seq
            self.is_broken = False
        except msgspec.DecodeError:
            # Too large for the log, or not from our relay: nobody can say who should have heard it.
            self.record = _NOTHING
            self.is_broken = True
        self.is_silent = self._is_silent()
        """Whether it is nothing to anybody who listens, such as the marks of take-overs."""
        self.is_unknown = kinds is not None and self.record.type not in kinds
        """Whether a newer version wrote it, of a kind that is none of ours."""
        self.size = len(stored.data)
        self.decoded: object = None
        """Where a presenter keeps the decoded event."""
        self._variants: dict[Hashable, bytes] = {}

    def _is_silent(self) -> bool:
        record = self.record
        return record.to == _NOBODY and not (record.changes or record.ends or self.is_broken)

    def text_for(self, listener: Listener, presenter: Presenter | None) -> bytes:
        """The event as JSON, for one listener."""
        variant = presenter.variant(self, listener) if presenter else None
        text = self._variants.get(variant)
        if text is None:
            text = self._variants[variant] = self._write(presenter.present(self, listener) if presenter else None)
        return text

    def _write(self, keys: bytes | None) -> bytes:
        own = bytes(self.record.event)[1:-1] if keys is None else keys
        head = b'{"id":%d,"type":"%s"' % (self.seq, self.record.type.encode())
        return head + b"," + own + b"}" if own else head + b"}"
