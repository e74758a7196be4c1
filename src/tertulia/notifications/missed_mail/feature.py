"""What mails about missed messages bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.notifications.missed_mail import bounds, routes
from tertulia.notifications.missed_mail.making import MissedMails

FEATURE = Feature(
    name="missed_mail",
    routes=(routes,),
    chores=(
        Chore(
            "missed messages",
            1.0,
            lambda services: MissedMails(services[Database], services[Settings]).make_due,
            "mail_batch",
        ),
    ),
    bounds=bounds.ALL,
)
