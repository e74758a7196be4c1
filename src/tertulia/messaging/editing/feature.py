"""What editing, moving and deleting messages bring to the server."""

from functools import partial

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.services import Hooks, Service, Services
from tertulia.messaging.editing import bounds, routes, wire
from tertulia.messaging.editing.actions import Editing, MentionEffect
from tertulia.messaging.editing.events import DeletePresenter, UpdatePresenter
from tertulia.messaging.editing.history.differences import Differences
from tertulia.messaging.editing.previews.actions import show_pictures
from tertulia.messaging.editing.previews.queries import WAITING
from tertulia.messaging.editing.renewing.actions import renew_rendered
from tertulia.messaging.editing.retention.actions import delete_expired_messages
from tertulia.messaging.sending.actions import Sending


def _editing(services: Services) -> Editing:
    effects: tuple[MentionEffect, ...] = services[Hooks].of(MentionEffect, services)
    return Editing(services[Database], services[Sending].composer, effects)


FEATURE = Feature(
    name="editing",
    routes=(routes,),
    wire=wire,
    presenters={"update_message": UpdatePresenter(), "delete_message": DeletePresenter()},
    services=(
        Service(Differences, lambda services: Differences(services[Database])),
        Service(Editing, _editing),
    ),
    chores=(
        Chore("expired messages", 600.0, lambda services: partial(delete_expired_messages, services[Database])),
        Chore("old rendered texts", 5.0, lambda services: partial(renew_rendered, services[Database])),
        Chore("pictures in messages", 0.5, lambda services: partial(show_pictures, services[Database]), WAITING),
    ),
    bounds=bounds.ALL,
)
