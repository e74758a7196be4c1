"""What reminders bring to the server."""

from functools import partial

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.messaging.reminders import bounds, routes, state, wire
from tertulia.messaging.reminders.actions import remind_all
from tertulia.messaging.reminders.queries import take_all
from tertulia.people.users.handover import Belongings

FEATURE = Feature(
    name="reminders",
    routes=(routes,),
    wire=wire,
    state=(state.reminders,),
    chores=(Chore("reminders", 1.0, lambda services: partial(remind_all, services[Database]), "reminder"),),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("reminder",), take_all),)},
)
