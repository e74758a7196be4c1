"""What typing notices bring to the server."""

from tertulia.conversations.channels.access import ChannelFinder
from tertulia.events.feature import Feature
from tertulia.events.queues.gateway import Gateway
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service, Services
from tertulia.messaging.typing_notices import routes, wire
from tertulia.messaging.typing_notices.actions import Typing
from tertulia.messaging.typing_notices.events import EditingPresenter, TypingPresenter


def _typing(services: Services) -> Typing:
    return Typing(services[Database], services[ChannelFinder], services[Gateway].signals)


FEATURE = Feature(
    name="typing_notices",
    routes=(routes,),
    wire=wire,
    presenters={"typing": TypingPresenter(), "typing_edit_message": EditingPresenter()},
    services=(Service(Typing, _typing),),
)
