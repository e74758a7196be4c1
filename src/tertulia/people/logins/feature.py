"""What passwords and API keys bring to the server."""

from functools import partial

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore, housekeeping
from tertulia.kernel.db import Database
from tertulia.kernel.services import Service, Services
from tertulia.kernel.settings import Settings
from tertulia.people.logins import bounds, routes
from tertulia.people.logins.attempts import attempts_of, forget_old_failures
from tertulia.people.logins.codes import CountedCodes
from tertulia.people.logins.keys import KeyUse
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.logins.old_keys import end_keys_by_age
from tertulia.people.logins.reauthentication import PasswordReauthentication
from tertulia.people.logins.reset import forget_old_tokens
from tertulia.people.users.arrival import Arrival
from tertulia.people.users.reauthentication import Reauthentication


def _password_login(services: Services) -> PasswordLogin:
    return PasswordLogin(services[Database], services[Settings], services[Arrival])


def _reauthentication(services: Services) -> Reauthentication:
    return PasswordReauthentication(
        services[Database], services[Settings], services[PasswordLogin], services[CountedCodes]
    )


def _key_use(services: Services) -> KeyUse:
    use = KeyUse(services[Database])
    use.start()
    return use


FEATURE = Feature(
    name="logins",
    routes=(routes,),
    services=(
        Service(PasswordLogin, _password_login),
        Service(Reauthentication, _reauthentication),
        Service(CountedCodes, lambda services: CountedCodes(attempts_of(services[Database], services[Settings]))),
        Service(KeyUse, _key_use, close=KeyUse.close),
    ),
    chores=(
        housekeeping(forget_old_failures),
        housekeeping(forget_old_tokens),
        Chore("old keys", 600.0, lambda services: partial(end_keys_by_age, services[Database], services[Settings])),
    ),
    bounds=bounds.ALL,
)
