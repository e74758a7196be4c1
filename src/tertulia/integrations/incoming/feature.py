"""What webhooks of other services bring to the server."""

from tertulia.events.feature import Feature
from tertulia.integrations.incoming import bounds, routes, state, wire
from tertulia.integrations.incoming.queries import SECRET

FEATURE = Feature(
    name="incoming",
    routes=(routes,),
    wire=wire,
    sealed=(SECRET,),
    bounds=bounds.ALL,
    state=(state.webhook_bots,),
)
