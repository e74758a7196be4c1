"""What erasing people brings to the server."""

from functools import partial

from tertulia.content.storage import Store
from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.messaging.erasure import bounds
from tertulia.messaging.erasure.actions import go_on_with_all

FEATURE = Feature(
    name="erasure",
    chores=(Chore("erasures", 5.0, lambda services: partial(go_on_with_all, services[Database], services[Store])),),
    bounds=bounds.ALL,
)
