"""What lets its bearer have a slow answer (pure): sealed, for two minutes, with how slow it is to be."""

from typing import Final

from tertulia.kernel.sealing import PREFIX, CannotOpen, SealedColumn, Sealer

GOOD_SECONDS: Final = 120
MOST_SECONDS: Final = 300.0
_BOUND_TO: Final = SealedColumn("probe", "ticket", row="")
"""It is in no table: a value of a column does not open as a ticket."""


def new_ticket(sealer: Sealer, seconds: float, now: float) -> str:
    """The sealer must have a key."""
    return sealer.seal_text(_BOUND_TO, f"{int(now) + GOOD_SECONDS} {seconds:g}")


def find_seconds(sealer: Sealer, ticket: str, now: float) -> float | None:
    """How slow the answer is to be; None: the ticket is none, or not any more."""
    if not ticket.startswith(PREFIX):
        return None  # what is not sealed, a sealer gives back as it is
    try:
        until, seconds = sealer.open_text(_BOUND_TO, ticket).split()
    except CannotOpen:
        return None
    return min(float(seconds), MOST_SECONDS) if now <= int(until) else None
