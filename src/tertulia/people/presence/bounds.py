"""Presence is one row for each account."""

from tertulia.kernel.bounds import Otherwise

PRESENCE = Otherwise(
    tables=("presence", "presence_clock"),
    because="one for each account; one for each organization",
)

ALL = (PRESENCE,)
