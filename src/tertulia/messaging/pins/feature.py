"""What pins bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.pins import bounds, routes, wire

FEATURE = Feature(
    name="pins",
    routes=(routes,),
    wire=wire,
    bounds=bounds.ALL,
)
