"""What custom emoji bring to the server."""

from tertulia.events.feature import Feature
from tertulia.organization.custom_emoji import bounds, routes, state, wire

FEATURE = Feature(
    name="custom_emoji",
    routes=(routes,),
    wire=wire,
    state=(state.realm_emoji,),
    bounds=bounds.ALL,
)
