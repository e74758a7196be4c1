"""What people's own settings bring to the server."""

from tertulia.events.feature import Feature
from tertulia.people.preferences import routes, state, wire

FEATURE = Feature(
    name="preferences",
    routes=(routes,),
    wire=wire,
    state=(state.user_settings, state.defaults, state.old_display, state.old_notifications),
)
