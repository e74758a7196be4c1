"""What avatars bring to the server."""

from tertulia.events.feature import Feature
from tertulia.people.avatars import routes

FEATURE = Feature(
    name="avatars",
    routes=(routes,),
)
