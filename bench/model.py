"""What an hour of somebody who is online costs, from what one call costs on the machine at hand. No I/O.

`docs/explanation/scale.md` says which of it was measured, which was computed, and which is only assumed.
"""

import msgspec

ROOM = 0.5
"""Of a core, how much an hour like any other may use: a peak is twice as high, and a process that dies leaves its part."""


class Call(msgspec.Struct, frozen=True):
    """Seconds of CPU of one call, by the part that spends them."""

    web: float = 0.0
    postgres: float = 0.0
    relay: float = 0.0
    nats: float = 0.0
    worker: float = 0.0

    @property
    def whole(self) -> float:
        parts: tuple[float, ...] = msgspec.structs.astuple(self)
        return sum(parts)

    def __add__(self, other: "Call") -> "Call":
        return Call(*map(sum, zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)))

    def times(self, count: float) -> "Call":
        return Call(*(part * count for part in msgspec.structs.astuple(self)))


class Usage(msgspec.Struct, frozen=True):
    """What somebody does in an hour online: assumed, of a team that lives in its chat."""

    sends: float = 6.0
    changes: float = 6.0
    """Edits, reactions, moves: as dear as a send, and heard by as many."""
    listeners: float = 30.0
    """Who are online and hear each of them."""
    typing: float = 12.0
    marks: float = 20.0
    fetches: float = 10.0
    pings: float = 60.0
    """Presence, once a minute."""
    heartbeats: float = 10.0
    """Polls that were answered because nothing happened for about a minute."""
    registrations: float = 0.5

    @property
    def events(self) -> float:
        """That one person hears, each in an answer of its own: what others do is heard by as many, what one reads by oneself."""
        return (self.sends + self.changes + self.typing) * self.listeners + self.marks


class Constants(msgspec.Struct, frozen=True):
    """Measured by `bin/bench constants`."""

    send: Call
    poll: Call
    """One poll: it comes, waits, and is answered with an event."""
    typing: Call
    mark: Call
    fetch: Call
    ping: Call
    registration: Call
    waiting_bytes: float
    """Memory of a web process for a poll that waits, its queue and its connection included."""
    message_bytes: float
    """On PostgreSQL's disk, indexes included."""
    log_bytes: float
    """Of the write-ahead log, for each message."""
    event_bytes: float
    """To each who hears it."""


class Load(msgspec.Struct, frozen=True):
    """What so many people need."""

    cores: Call
    memory_bytes: float
    disk_bytes_per_day: float
    """Of messages, in eight such hours."""
    network_bits_per_second: float
    messages_per_second: float
    heard_per_second: float


def hour(constants: Constants, usage: Usage) -> dict[str, Call]:
    """By kind of call, what one person's hour costs."""
    return {
        "messages and changes": constants.send.times(usage.sends + usage.changes),
        "events heard": constants.poll.times(usage.events),
        "typing": constants.typing.times(usage.typing),
        "marking read": constants.mark.times(usage.marks),
        "fetching": constants.fetch.times(usage.fetches),
        "presence": constants.ping.times(usage.pings),
        "heartbeats": constants.poll.times(usage.heartbeats),
        "registrations": constants.registration.times(usage.registrations),
    }


def load_of(constants: Constants, usage: Usage, people: float) -> Load:
    """Cores are busy for `ROOM` of their time."""
    each = sum(hour(constants, usage).values(), Call())
    cores = each.times(people / 3600 / ROOM)
    written = (usage.sends + usage.changes) * people / 3600
    heard = usage.events * people / 3600
    return Load(
        cores,
        constants.waiting_bytes * people,
        usage.sends * people * 8 * constants.message_bytes,
        heard * constants.event_bytes * 8,
        written,
        heard,
    )


def people_on(constants: Constants, usage: Usage, cores: float) -> float:
    """How many are online where everything shares so many cores."""
    each = sum(hour(constants, usage).values(), Call())
    return cores * ROOM * 3600 / each.whole
