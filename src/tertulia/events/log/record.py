"""What an event is in the log: who hears it, what it says, and what it changes about who hears later ones.

The log's body is the JSON of a `Record`. Where numbers are given out by the statement that stores something, that
statement writes them into the JSON as the `stamp`.

While a server is upgraded, two versions write the log and read it. A key of a `Record` that the reader does not know is ignored,
so a new one has a default and never takes anything away; a part of an `Audience` that it does not know makes the event unreadable
to it, because nobody can say whom that part leaves out. What becomes of a kind that it does not know: queues/logged_event.py.
"""

from typing import Any

import msgspec


class Audience(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Who hears an event. The parts add up."""

    realm: bool = False
    """Everybody in the realm."""
    members: bool = False
    """Everybody in the realm but guests."""
    users: tuple[int, ...] = ()
    channel: int | None = None
    """Those subscribed to the channel at this point of the log."""
    public: bool = False
    """With `channel`: also whoever listens to all public channels."""
    needs: str = ""
    """Of all these, only clients with this capability."""
    lacks: str = ""
    """Of all these, only clients without this capability."""
    instead: str = ""
    """Not for clients that asked for events of this type by name: those tell them the same."""
    old: bool = False
    """Only where older names are sent: the event says nothing but one (kernel/compat.py)."""
    without: "Audience | None" = None
    """Of all these, not those: who is meant there is decided at the same point of the log."""


class Change(msgspec.Struct, frozen=True):
    """A change of who belongs to a channel, at the moment its last message had the number `seq`."""

    channel: int
    users: tuple[int, ...]
    joined: bool
    seq: int


class Numbered(msgspec.Struct, frozen=True):
    """What the log itself reads of a stamp: the event's number in its channel."""

    seq: int


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry of the log."""

    to: Audience
    type: str
    event: msgspec.Raw
    """The event's own keys, as a JSON object without `id` and `type`."""
    changes: tuple[Change, ...] = ()
    ends: tuple[int, ...] = ()
    """Users whose queues end here: what they may see changes from here on."""
    revokes: tuple[int, ...] = ()
    """Credentials that are good for nothing from here on (`Caller.credential`): requests that wait with one are refused."""
    closes: bool = False
    """The queues that would have heard this end here instead: their clients cannot be told in a bearable number of events."""
    stamp: msgspec.Raw = msgspec.Raw(b"")
    """What the statement that stored something adds to its event: a JSON object with `seq`, the number in the channel;
    whatever else is in it is read by the feature that presents the event."""


def record(
    to: Audience, type: str, event: Any, *, changes: tuple[Change, ...] = (), ends: tuple[int, ...] = ()
) -> Record:
    """An entry for `Transaction.emit`."""
    return Record(to=to, type=type, event=msgspec.Raw(msgspec.json.encode(event)), changes=changes, ends=ends)
