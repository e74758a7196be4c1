"""What reports of messages bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.reports import routes

FEATURE = Feature(
    name="reports",
    routes=(routes,),
)
