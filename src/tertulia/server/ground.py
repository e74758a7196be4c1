"""What all features need and none of them owns: registration and event queues, stored objects, the web client, mails.

The areas `events`, `content` and `kernel` are below the type `Feature`, so what they bring is declared here.
"""

from functools import partial

from tertulia.content.storage import Store
from tertulia.content.webclient.files import BuiltFiles
from tertulia.events.feature import Feature
from tertulia.events.queues import routes, wire
from tertulia.events.queues.bounds import QUEUES, QUEUES_WITH_OWNED
from tertulia.kernel.bounds import EVENTS, Otherwise
from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database
from tertulia.kernel.mail import BODY, LETTER, Postman
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.organization.notices.bounds import TOLD
from tertulia.server.registration import routes as registration

BOUNDS = (
    QUEUES,
    QUEUES_WITH_OWNED,
    EVENTS,
    Otherwise(tables=("oldest_program",), because="one row"),
    Otherwise(tables=("relay_checkpoint", "relay_state"), because="one for each stream of events"),
    Otherwise(tables=("orphan_object",), because="one for each object that is being stored or deleted"),
    Otherwise(
        tables=("mail_outbox",), because="the rates of mails; each is deleted when it is sent, or after three days"
    ),
    Otherwise(tables=("mail_failure",), because="one for each address that refused its last mails"),
    TOLD,
)

GROUND = Feature(
    name="ground",
    routes=(routes, registration),
    wire=wire,
    services=(
        Service(Store, lambda services: Store(services[Settings])),
        Service(BuiltFiles, lambda services: BuiltFiles(watch=services[Settings].development)),
        Service(registration.RegistrationGate, lambda services: registration.RegistrationGate(services[Settings])),
        Service(Postman, lambda services: Postman(services[Settings])),
    ),
    bounds=BOUNDS,
    sealed=(BODY, LETTER),
    chores=(
        Chore("mails", 1.0, lambda services: partial(services[Postman].deliver, services[Database]), "mail_outbox"),
    ),
)
