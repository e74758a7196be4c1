"""What devices bring to the server."""

from tertulia.events.feature import Feature
from tertulia.people.devices import routes, wire

FEATURE = Feature(
    name="devices",
    routes=(routes,),
    wire=wire,
)
