"""What erasing people brings to the server."""

from collections.abc import Awaitable, Callable
from functools import partial

from tertulia.content.storage import Store
from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.services import Services
from tertulia.messaging.erasure import bounds, routes, wire
from tertulia.messaging.erasure.actions import go_on_with_all
from tertulia.messaging.erasure.holds import routes as hold_routes
from tertulia.messaging.erasure.queries import WAITING
from tertulia.people.users.archives import StoredArchives


def _going_on(services: Services) -> Callable[[], Awaitable[int]]:
    return partial(go_on_with_all, services[Database], services[Store], services[StoredArchives])


FEATURE = Feature(
    name="erasure",
    routes=(routes, hold_routes),
    wire=wire,
    chores=(Chore("erasures", 1.0, _going_on, WAITING),),
    bounds=bounds.ALL,
)
