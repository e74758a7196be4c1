"""What slow answers bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.services import Service, Services
from tertulia.kernel.settings import Settings
from tertulia.server.probes import routes
from tertulia.server.probes.routes import Probes


def _probes(services: Services) -> Probes:
    return Probes(sealer_of(services[Settings]))


FEATURE = Feature(name="probes", routes=(routes,), services=(Service(Probes, _probes),))
