"""What fetching and searching bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.reading import routes

FEATURE = Feature(
    name="reading",
    routes=(routes,),
)
