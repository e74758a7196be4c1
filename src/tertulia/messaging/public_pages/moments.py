"""How pages write moments: for machines, and for people of whatever zone (pure)."""

from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    """To the second, in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def shown(moment: datetime) -> str:
    """To the minute. A page is the same for everybody, so it says in which zone."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
