"""When the backup of a night is due."""

from datetime import datetime, timedelta, timezone

import pytest

from tertulia.cli.nightly import next_night
from tertulia.kernel.settings import Settings, SettingsError

HERE = timezone(timedelta(hours=2))


def test_after_one_at_night_the_next_one_is_a_day_later() -> None:
    assert next_night(datetime(2026, 11, 16, 2, 31, tzinfo=HERE), "02:30") == datetime(2026, 11, 17, 2, 30, tzinfo=HERE)


def test_after_one_in_the_evening_the_next_one_is_in_the_same_night() -> None:
    assert next_night(datetime(2026, 11, 16, 23, 0, tzinfo=HERE), "02:30") == datetime(2026, 11, 17, 2, 30, tzinfo=HERE)


def test_at_the_very_minute_it_is_not_due_twice() -> None:
    assert next_night(datetime(2026, 11, 16, 2, 30, tzinfo=HERE), "02:30") == datetime(2026, 11, 17, 2, 30, tzinfo=HERE)


@pytest.mark.parametrize("text", ["2:30", "24:00", "02:60", "nightly"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="nightly_backup"):
        Settings(nightly_backup=text)
