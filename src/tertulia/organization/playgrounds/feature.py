"""What code playgrounds bring to the server."""

from tertulia.events.feature import Feature
from tertulia.organization.playgrounds import bounds, routes, state, wire

FEATURE = Feature(
    name="playgrounds",
    routes=(routes,),
    wire=wire,
    state=(state.realm_playgrounds,),
    bounds=bounds.ALL,
)
