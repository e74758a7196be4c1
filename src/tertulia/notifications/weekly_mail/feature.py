"""What digests bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import HOUSEKEEPING_SECONDS, Chore
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.notifications.weekly_mail import bounds
from tertulia.notifications.weekly_mail.making import Digests

FEATURE = Feature(
    name="weekly_mail",
    chores=(
        Chore(
            "digests",
            HOUSEKEEPING_SECONDS,
            lambda services: Digests(services[Database], services[Settings]).make_due,
        ),
    ),
    bounds=bounds.ALL,
)
