"""What exports bring to the server."""

from functools import partial

from tertulia.archives.exports import bounds, routes, wire
from tertulia.archives.exports.building import build_exports
from tertulia.archives.exports.ending import StoredExports
from tertulia.archives.exports.expiring import forget_old_exports
from tertulia.archives.exports.queries import WAITING
from tertulia.content.storage import Store
from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore, housekeeping
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service
from tertulia.people.users.archives import StoredArchives

FEATURE = Feature(
    name="exports",
    routes=(routes,),
    wire=wire,
    services=(Service(StoredArchives, lambda _services: StoredExports()),),
    chores=(
        Chore("exports", 1.0, lambda services: partial(build_exports, services[Database], services[Store]), WAITING),
        housekeeping(forget_old_exports),
    ),
    bounds=bounds.ALL,
)
