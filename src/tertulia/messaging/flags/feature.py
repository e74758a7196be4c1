"""What flags of messages bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.flags import routes

FEATURE = Feature(
    name="flags",
    routes=(routes,),
)
