"""API keys that end by themselves, where the operator says so: those that nobody uses, and log-ins of apps that are old.

By default keys last until somebody ends them, as existing programs expect. A key that a person made for a program, or the owner
of a bot for the bot, has no end by age: only one that an app got with a password or at a provider is a log-in.
"""

from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.people.users.authentication.revocation import end_old_keys

BATCH = 1000


async def end_keys_by_age(database: Database, settings: Settings) -> int:
    """End the keys whose time is over; returns how many."""
    if not (settings.api_key_idle_days or settings.app_key_max_days):
        return 0
    days = (settings.api_key_idle_days, settings.app_key_max_days)
    return await in_batches(database, BATCH, lambda tx: end_old_keys(tx, *days, BATCH))
