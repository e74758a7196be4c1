"""What presence brings to the server."""

from tertulia.events.feature import Feature
from tertulia.events.queues.gateway import Gateway
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.people.presence import bounds, routes, state, wire
from tertulia.people.presence.actions import Pings
from tertulia.people.presence.book import Book
from tertulia.people.presence.events import PresencePresenter

FEATURE = Feature(
    name="presence",
    routes=(routes,),
    wire=wire,
    state=(state.presences,),
    presenters={"presence": lambda services: PresencePresenter(services[Settings])},
    services=(
        Service(Pings, lambda services: Pings(services[Database], services[Gateway].signals)),
        Service(Book, lambda services: Book(services[Database])),
    ),
    bounds=bounds.ALL,
)
