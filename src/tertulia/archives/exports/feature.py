"""What exports bring to the server."""

from tertulia.archives.exports import routes, wire
from tertulia.events.feature import Feature

FEATURE = Feature(
    name="exports",
    routes=(routes,),
    wire=wire,
)
