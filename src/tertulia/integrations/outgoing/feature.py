"""What bots that are called bring to the server."""

from tertulia.events.feature import Feature
from tertulia.integrations.outgoing import bounds
from tertulia.integrations.outgoing.actions import record_calls
from tertulia.integrations.outgoing.calls import Calls
from tertulia.integrations.outgoing.queries import take_all
from tertulia.kernel.chores import Chore, Work
from tertulia.kernel.db import Database
from tertulia.kernel.services import Services
from tertulia.kernel.settings import Settings
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.storing import SideEffect
from tertulia.people.users.handover import Belongings


def _call(services: Services) -> Work:
    return Calls(services[Database], services[Sending], services[Settings]).start_due


FEATURE = Feature(
    name="outgoing",
    hooks={Belongings: (Belongings(("hook_call",), take_all),), SideEffect: (record_calls,)},
    chores=(Chore("calls to bots", 0.3, _call, "hook_call"),),
    bounds=bounds.ALL,
)
