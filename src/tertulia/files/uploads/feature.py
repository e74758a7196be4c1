"""What uploaded files bring to the server."""

import asyncio
from functools import partial

from tertulia.content.storage import Store
from tertulia.events.feature import Feature
from tertulia.files.uploads import bounds, routes, state, wire
from tertulia.files.uploads.actions import Uploading
from tertulia.files.uploads.queries import give_files
from tertulia.files.uploads.sweeping.actions import forget_unused, sweep_objects
from tertulia.files.uploads.thumbnails.actions import Thumbnails
from tertulia.files.uploads.thumbnails.queries import WAITING
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.left_folders import forget_left_folders
from tertulia.kernel.services import Service, Services
from tertulia.kernel.settings import Settings
from tertulia.people.users.handover import Belongings


def _uploading(services: Services) -> Uploading:
    return Uploading(services[Database], services[Store], services[Settings])


FEATURE = Feature(
    name="uploads",
    routes=(routes,),
    wire=wire,
    state=(state.limits,),
    services=(
        Service(Uploading, _uploading),
        Service(Thumbnails, lambda services: Thumbnails(services[Database], services[Store])),
    ),
    chores=(
        Chore("thumbnails", 0.5, lambda services: services[Thumbnails].make_all, WAITING),
        Chore("thumbnails beside a slow one", 0.5, lambda services: services[Thumbnails].make_beside, WAITING),
        Chore(
            "orphaned objects",
            1.0,
            lambda services: partial(sweep_objects, services[Database], services[Store]),
            "orphan_object",
        ),
        Chore("unused files", 600.0, lambda services: partial(forget_unused, services[Database], services[Settings])),
        Chore("folders left behind", 600.0, lambda _services: partial(asyncio.to_thread, forget_left_folders)),
    ),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("attachment",), give_files),)},
)
