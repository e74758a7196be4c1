"""What a caller is told when an engine fails."""

import asyncpg

from tertulia.kernel.db import LOST, UNABLE, OutcomeUnknown, is_bad_value
from tertulia.kernel.errors import Refusal, server_not_ready

FULL_SECONDS = 10
"""When to come back if the disk is full: that passes less quickly than other failures."""


def as_refusal(error: Exception) -> Refusal | None:
    """What a caller is told when an engine is out of reach: try again, nothing was done."""
    if isinstance(error, OutcomeUnknown):
        return server_not_ready(
            "The database went away during this change: look whether it happened before you repeat it."
        )
    if is_bad_value(error):
        return None
    if isinstance(error, asyncpg.DiskFullError):
        return server_not_ready("The server has no room to store this right now. Please try again later.", FULL_SECONDS)
    if isinstance(error, (*LOST, *UNABLE)):
        return server_not_ready("The server cannot reach its database right now. Please try again.")
    if isinstance(error, (asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError)):
        return server_not_ready("Somebody else changed the same things at the same time. Please try again.")
    return None
