"""What files that are handed out bring to the server."""

from tertulia.events.feature import Feature
from tertulia.files.downloads import routes

FEATURE = Feature(
    name="downloads",
    routes=(routes,),
)
