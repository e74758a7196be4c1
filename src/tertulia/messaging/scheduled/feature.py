"""What scheduled messages bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore, Work
from tertulia.kernel.db import Database
from tertulia.kernel.services import Services
from tertulia.kernel.settings import Settings
from tertulia.messaging.scheduled import bounds, routes, state, wire
from tertulia.messaging.scheduled.delivery import Delivery
from tertulia.messaging.scheduled.queries import take_all
from tertulia.messaging.sending.actions import Sending
from tertulia.people.users.handover import Belongings


def _deliver(services: Services) -> Work:
    return Delivery(services[Database], services[Sending], services[Settings]).deliver


FEATURE = Feature(
    name="scheduled",
    routes=(routes,),
    wire=wire,
    state=(state.scheduled_messages,),
    chores=(
        Chore("scheduled messages", 0.5, _deliver, "(select due from scheduled_message where not failed) as them"),
    ),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("scheduled_message",), take_all),)},
)
