"""What organizations bring to the server."""

from tertulia.events.feature import Feature
from tertulia.organization.realms import bounds, routes, state, wire
from tertulia.organization.realms.absent import ABSENT
from tertulia.organization.realms.changing import routes as changing
from tertulia.organization.realms.domains import routes as domains
from tertulia.organization.realms.pictures import routes as pictures

FEATURE = Feature(
    name="realms",
    routes=(routes, changing, domains, pictures),
    wire=wire,
    state=(state.version, state.realm, state.realm_domains, *ABSENT),
    bounds=bounds.ALL,
)
