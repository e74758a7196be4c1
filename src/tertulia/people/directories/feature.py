"""What following a directory brings to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.people.directories import bounds
from tertulia.people.directories.sync import DirectorySync

CHECK_SECONDS = 20.0
"""How often the worker looks whether it is time."""

FEATURE = Feature(
    name="directories",
    services=(Service(DirectorySync, lambda services: DirectorySync(services[Database], services[Settings])),),
    chores=(
        Chore("compare with the directory", CHECK_SECONDS, lambda services: services[DirectorySync].sync_when_due),
    ),
    bounds=bounds.ALL,
)
