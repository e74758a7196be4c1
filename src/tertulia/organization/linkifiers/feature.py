"""What linkifiers bring to the server."""

from tertulia.events.feature import Feature
from tertulia.organization.linkifiers import bounds, routes, state, wire

FEATURE = Feature(
    name="linkifiers",
    routes=(routes,),
    wire=wire,
    state=(state.realm_linkifiers, state.realm_filters),
    bounds=bounds.ALL,
)
