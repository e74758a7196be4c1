"""What push notifications bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.notifications.push import bounds, queries, routes
from tertulia.notifications.push.keys import PushKeys
from tertulia.notifications.push.posting import PushPost
from tertulia.notifications.push.sending import Pushes

FEATURE = Feature(
    name="push",
    routes=(routes,),
    services=(
        Service(PushKeys, lambda services: PushKeys(services[Database], services[Settings])),
        Service(PushPost, lambda services: PushPost(services[Database], services[Settings])),
    ),
    sealed=(queries.PRIVATE_KEY, queries.AUTH_SECRET),
    chores=(
        Chore("pushes", 0.5, lambda services: Pushes(services[Database], services[Settings]).start_due, "push_call"),
    ),
    bounds=bounds.ALL,
)
