"""Pure decisions about channels."""

import pytest

from tertulia.conversations.channels.rules import weekly_traffic
from tertulia.kernel.compat import old_post_keys


@pytest.mark.parametrize(
    ("sent", "age_days", "shown"),
    [
        (0, 0, None),
        (500, 6, None),
        (0, 7, 0),
        (1, 7, 1),
        (10, 7, 10),
        (10, 14, 5),
        (1, 27, 1),
        (0, 27, 0),
        (3, 28, 1),
        (0, 400, 0),
        (400, 28, 100),
        (500, 28, 120),
        (4 * 987, 100, 990),
        (4 * 12_345, 100, 12_000),
        (4 * 99, 100, 99),
    ],
)
def test_weekly_traffic_is_an_average_of_four_weeks_with_two_digits(
    sent: int, age_days: int, shown: int | None
) -> None:
    assert weekly_traffic(sent, age_days) == shown


def test_the_old_posting_policy_follows_from_the_group_that_may_send() -> None:
    groups = (
        "role:everyone",
        "role:administrators",
        "role:fullmembers",
        "role:moderators",
        "role:members",
        "others",
        None,
    )
    assert [old_post_keys(group)["stream_post_policy"] for group in groups] == [1, 2, 3, 4, 1, 1, 1]
