"""What folders of channels bring to the server."""

from tertulia.conversations.folders import bounds, routes, state, wire
from tertulia.events.feature import Feature

FEATURE = Feature(
    name="folders",
    routes=(routes,),
    wire=wire,
    state=(state.channel_folders,),
    bounds=bounds.ALL,
)
