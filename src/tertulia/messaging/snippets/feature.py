"""What saved snippets bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.snippets import bounds, routes, state, wire
from tertulia.messaging.snippets.queries import take_all
from tertulia.people.users.handover import Belongings

FEATURE = Feature(
    name="snippets",
    routes=(routes,),
    wire=wire,
    state=(state.saved_snippets,),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("saved_snippet",), take_all),)},
)
