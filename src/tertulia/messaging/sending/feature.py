"""What sending brings to the server. What it takes to send a message is put together here, for requests and chores alike."""

from tertulia.conversations.channels.access import ChannelFinder
from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore, housekeeping
from tertulia.kernel.db import Database
from tertulia.kernel.services import Hooks, Service, Services
from tertulia.kernel.settings import Settings
from tertulia.messaging.sending import bounds, routes, wire
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.events import MessageFilter, MessagePresenter
from tertulia.messaging.sending.idempotency import forget_old_keys
from tertulia.messaging.sending.notices import Notices
from tertulia.messaging.sending.storing import SideEffect
from tertulia.organization.notices.actions import FOLLOW_UP as NOTICES


def _sending(services: Services) -> Sending:
    side_effects: tuple[SideEffect, ...] = services[Hooks].of(SideEffect, services)
    return Sending.open(services[Database], services[ChannelFinder], services[Settings], side_effects)


def _notices(services: Services) -> Notices:
    return Notices(services[Database], services[Sending], services[Settings])


FEATURE = Feature(
    name="sending",
    routes=(routes,),
    wire=wire,
    presenters={"message": MessagePresenter()},
    filters={"message": MessageFilter()},
    services=(
        Service(Sending, _sending, close=Sending.close),
        Service(Notices, _notices),
    ),
    follow_ups={NOTICES: lambda services: services[Notices].deliver},
    chores=(
        Chore("notices", 1.0, lambda services: services[Notices].deliver_left, "notice"),
        housekeeping(forget_old_keys),
    ),
    bounds=bounds.ALL,
)
