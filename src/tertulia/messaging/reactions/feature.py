"""What reactions bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.reactions import bounds, routes, wire
from tertulia.messaging.reactions.events import ReactionPresenter

FEATURE = Feature(
    name="reactions",
    routes=(routes,),
    wire=wire,
    presenters={"reaction": ReactionPresenter()},
    bounds=bounds.ALL,
)
