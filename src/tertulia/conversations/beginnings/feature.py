"""What beginnings bring to the server."""

from tertulia.conversations.beginnings import routes
from tertulia.events.feature import Feature

FEATURE = Feature(name="beginnings", routes=(routes,))
