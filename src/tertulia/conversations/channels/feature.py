"""What channels bring to the server."""

from functools import partial

from tertulia.conversations.channels import bounds, routes, state, wire
from tertulia.conversations.channels.access import ChannelFinder, check_channel, hold_channels_named
from tertulia.conversations.channels.archiving import routes as archiving
from tertulia.conversations.channels.changing import routes as changing
from tertulia.conversations.channels.handover import hold_conversations, part
from tertulia.conversations.channels.listing import routes as listing
from tertulia.conversations.channels.properties import routes as properties
from tertulia.conversations.channels.traffic import count_traffic
from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.kernel.db import Database
from tertulia.kernel.services import Hooks, Service, Services
from tertulia.organization.realms.changing.actions import ChannelCheck
from tertulia.people.bots.defaults import ChannelHolder
from tertulia.people.users.handover import Belongings, BotHandover


def _handover(services: Services) -> BotHandover:
    return BotHandover(hold_conversations, part, services[Hooks].of(Belongings, services))


FEATURE = Feature(
    name="channels",
    routes=(routes, listing, properties, changing, archiving),
    wire=wire,
    state=(state.channels, state.defaults),
    services=(
        Service(ChannelFinder, lambda services: ChannelFinder(services[Database])),
        Service(ChannelCheck, lambda _: ChannelCheck(check_channel, partial(check_channel, is_private=True))),
        Service(ChannelHolder, lambda _: ChannelHolder(hold_channels_named)),
        Service(BotHandover, _handover),
    ),
    chores=(housekeeping(count_traffic),),
    bounds=bounds.ALL,
)
