"""What alert words bring to the server."""

from tertulia.events.feature import Feature
from tertulia.people.alert_words import bounds, routes, state, wire
from tertulia.people.alert_words.queries import take_all
from tertulia.people.users.handover import Belongings

FEATURE = Feature(
    name="alert_words",
    routes=(routes,),
    wire=wire,
    state=(state.alert_words,),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("alert_word",), take_all),)},
)
