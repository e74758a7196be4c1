"""What previews of links bring to the server. They are shown by messaging/editing/previews."""

from functools import partial

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore, Work
from tertulia.kernel.db import Database
from tertulia.kernel.services import MadeHook, Services
from tertulia.kernel.settings import Settings
from tertulia.messaging.link_previews import bounds
from tertulia.messaging.link_previews.actions import PreviewRecorder
from tertulia.messaging.link_previews.fetching import PageFetching
from tertulia.messaging.link_previews.forgetting import forget_stale
from tertulia.messaging.sending.storing import SideEffect


def _fetch(services: Services) -> Work:
    return PageFetching(services[Database], services[Settings]).start_due


FEATURE = Feature(
    name="link_previews",
    hooks={SideEffect: (MadeHook(lambda services: PreviewRecorder(services[Settings])),)},
    bounds=bounds.ALL,
    chores=(
        Chore("previews of links", 0.5, _fetch, "(select due from link_preview where state = 0) as them"),
        Chore("forget old previews", 600.0, lambda services: partial(forget_stale, services[Database])),
    ),
)
