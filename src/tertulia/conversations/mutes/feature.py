"""What muted people bring to the server."""

from tertulia.conversations.mutes import bounds, routes, state, wire
from tertulia.events.feature import Feature

FEATURE = Feature(
    name="mutes",
    routes=(routes,),
    wire=wire,
    state=(state.muted_users,),
    bounds=bounds.ALL,
)
