"""What widgets in messages bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.widgets import bounds, routes, wire

FEATURE = Feature(
    name="widgets",
    routes=(routes,),
    wire=wire,
    bounds=bounds.ALL,
)
