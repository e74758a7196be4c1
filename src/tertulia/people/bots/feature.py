"""What bots bring to the server."""

from tertulia.events.feature import Feature
from tertulia.people.bots import bounds, routes, state, wire
from tertulia.people.bots.queries import TOKEN
from tertulia.people.bots.storage import routes as storage
from tertulia.people.bots.storage.actions import take_all
from tertulia.people.users.handover import Belongings

FEATURE = Feature(
    name="bots",
    routes=(routes, storage),
    wire=wire,
    state=(state.bot_domain, state.realm_bots, state.embedded_bots),
    bounds=bounds.ALL,
    sealed=(TOKEN,),
    hooks={Belongings: (Belongings(("bot_storage",), take_all),)},
)
