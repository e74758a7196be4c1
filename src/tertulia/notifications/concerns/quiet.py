"""When somebody does not want to hear anything: their quiet hours, and pauses that they ask for (pure)."""

import functools
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from tertulia.people.preferences.model import UserSettings


def quiet_until(chosen: UserSettings, timezone: str, now: datetime) -> datetime | None:
    """When this quiet ends; None: it is not quiet now. At that time it may go on, by other hours or another pause."""
    if not chosen.quiet_hours_enabled and not chosen.notifications_paused_until:
        return None
    ends = [end for end in (_hours_end(chosen, timezone, now), _pause_end(chosen)) if end is not None and end > now]
    return max(ends, default=None)


def _pause_end(chosen: UserSettings) -> datetime | None:
    paused = chosen.notifications_paused_until
    return datetime.fromtimestamp(paused, UTC) if paused else None


def _hours_end(chosen: UserSettings, timezone: str, now: datetime) -> datetime | None:
    """The end of the hours that we are in. They have the day on which they begin, and may go over midnight."""
    if not chosen.quiet_hours_enabled:
        return None
    zone = zone_of(timezone)
    today = now.astimezone(zone).date()
    for day in (today, today - timedelta(days=1)):
        begin, end = _hours_of(chosen, day, zone)
        if chosen.quiet_hours_days >> day.weekday() & 1 and begin <= now < end:
            return end
    return None


def _hours_of(chosen: UserSettings, day: date, zone: tzinfo) -> tuple[datetime, datetime]:
    """By the clock on the wall: a night in which it is changed is an hour longer or shorter."""
    over_midnight = chosen.quiet_hours_end <= chosen.quiet_hours_start
    last = day + timedelta(days=1) if over_midnight else day
    return _moment(day, chosen.quiet_hours_start, zone), _moment(last, chosen.quiet_hours_end, zone)


def _moment(day: date, minutes: int, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(minutes // 60, minutes % 60), zone).astimezone(UTC)


@functools.lru_cache(maxsize=1024)
def zone_of(name: str) -> tzinfo:
    """A time zone by its name; UTC if nobody said, or if we do not know it."""
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):
        return UTC
