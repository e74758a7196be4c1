"""A status is one row for each account."""

from tertulia.kernel.bounds import Otherwise

STATUSES = Otherwise(
    tables=("user_status",),
    because="one for each account",
)

ALL = (STATUSES,)
