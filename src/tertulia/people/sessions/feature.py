"""What browser sessions and logging in elsewhere bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.people.sessions import bounds, routes
from tertulia.people.sessions.actions import forget_old_logouts, forget_old_sessions
from tertulia.people.sessions.development_link import routes as development_link
from tertulia.people.sessions.oidc import routes as oidc
from tertulia.people.sessions.passkeys import routes as passkeys

FEATURE = Feature(
    name="sessions",
    routes=(routes, passkeys, oidc, development_link),
    services=(Service(oidc.Providers, lambda services: oidc.Providers(services[Settings])),),
    chores=(housekeeping(forget_old_sessions), housekeeping(forget_old_logouts)),
    bounds=bounds.ALL,
)
