"""What mail that comes in brings to the server."""

from tertulia.events.feature import Feature
from tertulia.files.uploads.actions import Uploading
from tertulia.kernel.chores import housekeeping
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service, Services
from tertulia.kernel.settings import Settings
from tertulia.messaging.sending.actions import Sending
from tertulia.notifications.mail_in import bounds, routes
from tertulia.notifications.mail_in.actions import MailIn, forget_old_addresses
from tertulia.notifications.mail_in.queries import TOKEN, take_addresses
from tertulia.people.users.handover import Belongings


def _mail_in(services: Services) -> MailIn:
    return MailIn(services[Database], services[Sending], services[Uploading], services[Settings])


FEATURE = Feature(
    name="mail_in",
    routes=(routes,),
    services=(Service(MailIn, _mail_in),),
    chores=(housekeeping(forget_old_addresses),),
    bounds=bounds.ALL,
    sealed=(TOKEN,),
    hooks={Belongings: (Belongings(("channel_address",), take_addresses),)},
)
