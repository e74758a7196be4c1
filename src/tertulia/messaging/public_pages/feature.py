"""What public pages bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service, Services
from tertulia.kernel.settings import Settings
from tertulia.messaging.public_pages import routes
from tertulia.messaging.public_pages.actions import PublicPages


def _pages(services: Services) -> PublicPages:
    return PublicPages(services[Database], services[Settings])


FEATURE = Feature(
    name="public_pages",
    routes=(routes,),
    refusals={routes.BELOW: routes.refuse},
    services=(Service(PublicPages, _pages),),
)
