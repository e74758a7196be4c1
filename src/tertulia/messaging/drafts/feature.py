"""What drafts bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.drafts import bounds, routes, state, wire
from tertulia.messaging.drafts.queries import take_all
from tertulia.people.users.handover import Belongings

FEATURE = Feature(
    name="drafts",
    routes=(routes,),
    wire=wire,
    state=(state.drafts,),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("draft",), take_all),)},
)
