"""What people and their accounts bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.people.users import bounds, routes, state, wire
from tertulia.people.users.directory import Directory
from tertulia.people.users.events import UserPresenter

FEATURE = Feature(
    name="users",
    routes=(routes,),
    wire=wire,
    state=(lambda services: state.realm_users(services[Directory]),),
    presenters={"realm_user": lambda services: UserPresenter(services[Settings])},
    services=(
        Service(Directory, lambda services: Directory(services[Database], services[Settings].user_lists_mib * 2**20)),
    ),
    bounds=bounds.ALL,
)
