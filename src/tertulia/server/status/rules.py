"""What the facts mean, in words (pure)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from tertulia.kernel.disk import is_nearly_full, percent_free

GUIDE: Final = "docs/how-to/operate.md"
RELAY_SECONDS: Final = 60.0
"""Events are late: the relay notes what it has stored every few seconds, and facts are up to a quarter of a minute old."""
WORK_SECONDS: Final = 600.0
SLOT_BYTES: Final = 5_000_000_000
"""As the alerts have it (deploy/monitoring/alerts.yml)."""
CONNECTIONS_PART: Final = 0.9


class State(StrEnum):
    """How a part is."""

    HEALTHY = "healthy"
    BEHIND = "behind"
    DOWN = "down"


class Part(msgspec.Struct, frozen=True):
    """One engine or part of the server, as it is said."""

    name: str
    state: State
    says: str
    do: str = ""
    guide: str = ""
    """Where the guide has more."""


class Slot(msgspec.Struct, frozen=True):
    """What PostgreSQL keeps for the relay."""

    is_active: bool
    is_lost: bool
    kept_bytes: int
    flushed: int
    """How far the log of PostgreSQL is, in bytes."""
    stored: int
    """How far its events are stored, as the relay has noted."""
    late_seconds: float = 0.0
    """Since PostgreSQL's last checkpoint, if they are stored only up to somewhere before it: they are at least so late."""


class Waiting(msgspec.Struct, frozen=True):
    """Work of one chore that is due."""

    chore: str
    number: int
    oldest_seconds: float


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What was found at one moment. An error is what an engine says that cannot be used; empty: it can."""

    postgres_error: str = ""
    postgres_connections: int = 0
    postgres_most_connections: int = 1
    is_standby: bool = False
    nats_error: str = ""
    slot: Slot | None = None
    relays: int = 0
    """Connections of relays, at work or waiting."""
    workers: int = 0
    webs: int = 0
    waiting: Sequence[Waiting] = ()
    has_mail: bool = True
    free_bytes: int | None = None
    """On the disk of the files; None: they are not on a disk of this machine."""
    disk_bytes: int = 1


def parts_of(facts: Facts, relay_late_seconds: float) -> list[Part]:
    """All that can be said. Without PostgreSQL nobody knows of relay and worker."""
    parts = [_postgres(facts), _nats(facts)]
    if not facts.postgres_error:
        parts += [_relay(facts, relay_late_seconds), _worker(facts)]
        if facts.webs:
            parts.append(Part("Web", State.HEALTHY, "At least one web process is connected to the database."))
        parts.append(_mail(facts))
    if facts.free_bytes is not None:
        parts.append(_disk(facts.free_bytes, facts.disk_bytes))
    return parts


def worst(parts: Sequence[Part]) -> State:
    """Of all together."""
    states = {part.state for part in parts}
    return next(state for state in (State.DOWN, State.BEHIND, State.HEALTHY) if state in states or not states)


def _postgres(facts: Facts) -> Part:
    away = f"{GUIDE}#when-postgresql-or-nats-is-away"
    if facts.postgres_error:
        do = "Start PostgreSQL, or mend what it says. Requests are answered 503 until then, and clients try again."
        return Part("PostgreSQL", State.DOWN, f"It cannot be used: {facts.postgres_error}", do, away)
    if facts.is_standby:
        do = "Let TERTULIA_POSTGRES_URL lead to the primary. Reading works meanwhile, writing does not."
        return Part("PostgreSQL", State.DOWN, "It is a standby, which takes no changes.", do, away)
    used = f"{facts.postgres_connections} of {facts.postgres_most_connections} connections are in use"
    if facts.postgres_connections > facts.postgres_most_connections * CONNECTIONS_PART:
        do = "Raise max_connections, or run fewer web processes: when none is left, requests are answered 503."
        return Part("PostgreSQL", State.BEHIND, f"Nearly all connections are taken: {used}.", do)
    return Part("PostgreSQL", State.HEALTHY, f"It answers, and {used}.")


def _nats(facts: Facts) -> Part:
    if not facts.nats_error:
        return Part("NATS", State.HEALTHY, "It answers, and JetStream stores events.")
    do = "Start nats-server; if its disk was full, make room and restart it. Messages are stored meanwhile; events come later."
    says = f"It cannot be used: {facts.nats_error}"
    return Part("NATS", State.DOWN, says, do, f"{GUIDE}#when-postgresql-or-nats-is-away")


def _relay(facts: Facts, late_seconds: float) -> Part:
    slot, guide = facts.slot, f"{GUIDE}#what-to-watch"
    if slot is None or not slot.is_active:
        waits = "One is connected to the database, and waits: its log says for what. Mend NATS first, if it is down."
        do = waits if facts.relays else "Start `tertulia relay`; its log says what it waits for."
        says = "No relay carries events: messages are stored, and nobody hears of them."
        return Part("Relay", State.DOWN, says, do, guide)
    if slot.is_lost:
        do = "Nothing: the relay begins a new epoch, and clients load anew. If it happens again, raise max_slot_wal_keep_size."
        says = "PostgreSQL no longer has what the relay needs of its log."
        return Part("Relay", State.DOWN, says, do, f"{GUIDE}#epochs")
    if late_seconds > RELAY_SECONDS:
        do = "See whether NATS is away or its disk full, and whether the relay has a processor to itself."
        return Part("Relay", State.BEHIND, f"Events are about {_span(late_seconds)} late.", do, guide)
    if slot.kept_bytes > SLOT_BYTES:
        do = "See what the relay waits for. Beyond max_slot_wal_keep_size PostgreSQL throws it away, and clients load anew."
        return Part("Relay", State.BEHIND, f"PostgreSQL keeps {_size(slot.kept_bytes)} of log for it.", do, guide)
    return Part("Relay", State.HEALTHY, "Events reach those who listen as they are committed.")


def _worker(facts: Facts) -> Part:
    guide = f"{GUIDE}#the-worker"
    waits = sorted(facts.waiting, key=lambda one: -one.oldest_seconds)
    if not facts.workers:
        do = "Start `tertulia worker`; its log says what it waits for."
        return Part("Worker", State.DOWN, "None runs: scheduled messages, reminders and mails wait.", do, guide)
    late = [one for one in waits if one.oldest_seconds > WORK_SECONDS]
    if late:
        says = "; ".join(f"{one.chore}: {one.number:,}, the oldest for {_span(one.oldest_seconds)}" for one in late)
        do = "Its log says what goes wrong. If nothing does, run one more worker."
        return Part("Worker", State.BEHIND, f"Work waits for too long: {says}.", do, guide)
    due = sum(one.number for one in waits)
    return Part("Worker", State.HEALTHY, f"It does its work; {due:,} pieces are due at the moment.")


def _mail(facts: Facts) -> Part:
    if facts.has_mail:
        return Part("Mail", State.HEALTHY, "A mail server is set up. `tertulia mail test ADDRESS` tries it.")
    do = "Set TERTULIA_SMTP_URL: without mails nobody can get a new password or be invited by mail."
    return Part("Mail", State.BEHIND, "None is sent.", do)


def _disk(free: int, total: int) -> Part:
    told = f"{_size(free)} ({percent_free(free, total):.0f} %) are free where files are stored"
    if not is_nearly_full(free, total):
        return Part("Disk", State.HEALTHY, f"{told}.")
    do = "Make room. PostgreSQL and NATS stop when their disk is full, and NATS does not come back by itself."
    return Part("Disk", State.BEHIND, f"It is nearly full: {told}.", do, f"{GUIDE}#what-to-watch")


def _size(size: float) -> str:
    units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{size:,.0f} {units[0]}"


def _span(seconds: float) -> str:
    for name, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {name}"
    return f"{seconds:.0f} seconds"
