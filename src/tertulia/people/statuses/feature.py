"""What statuses bring to the server."""

from tertulia.events.feature import Feature
from tertulia.people.statuses import bounds, routes, state, wire
from tertulia.people.statuses.events import StatusPresenter

FEATURE = Feature(
    name="statuses",
    routes=(routes,),
    wire=wire,
    state=(state.user_status,),
    presenters={"user_status": StatusPresenter()},
    bounds=bounds.ALL,
)
