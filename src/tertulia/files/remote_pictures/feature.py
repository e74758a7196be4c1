"""What pictures from elsewhere bring to the server. Their addresses are answered by server/gallery.py."""

from functools import partial

from tertulia.content.storage import Store
from tertulia.events.feature import Feature
from tertulia.files.remote_pictures import bounds
from tertulia.files.remote_pictures.fetching import Fetching
from tertulia.files.remote_pictures.forgetting import forget_unshown
from tertulia.kernel.chores import Chore, Work
from tertulia.kernel.db import Database
from tertulia.kernel.services import Services
from tertulia.kernel.settings import Settings


def _fetch(services: Services) -> Work:
    return Fetching(services[Database], services[Store], services[Settings]).start_due


FEATURE = Feature(
    name="remote_pictures",
    bounds=bounds.ALL,
    chores=(
        Chore("pictures from elsewhere", 0.5, _fetch, "(select due from remote_picture where state = 0) as them"),
        Chore("unshown pictures", 600.0, lambda services: partial(forget_unshown, services[Database])),
    ),
)
