"""One push to one browser: encrypted, signed, posted."""

import structlog
from prometheus_client import Counter

from tertulia.kernel.db import Database
from tertulia.kernel.outbound import Outbound, Unreachable
from tertulia.kernel.settings import Settings
from tertulia.notifications.push import queries
from tertulia.notifications.push.crypto import encrypt
from tertulia.notifications.push.keys import PushKeys
from tertulia.notifications.push.model import Address, Push

log = structlog.get_logger()
PUSHES = Counter(
    "tertulia_pushes", "Tries to push, by what the push service said: taken, refused, or gone", ["outcome"]
)
KEPT_SECONDS = 86_400
"""So long a push service keeps a push for a browser that is away."""
GONE = (404, 410)
"""What a push service says of a browser that it does not know any more."""


class PushPost:
    """Posts to push services."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._sealer = database.sealer
        self._keys = PushKeys(database, settings)
        self._outbound = Outbound(settings)

    async def post(self, to: Address | Push, payload: bytes, *, is_urgent: bool) -> int:
        """What the push service said; 503 if nobody answered."""
        signer = await self._keys.signer()
        headers = {
            "Authorization": signer.header(to.endpoint),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(KEPT_SECONDS),
            "Urgency": "high" if is_urgent else "normal",
        }
        try:
            body = encrypt(payload, to.public_key, self._sealer.open(queries.AUTH_SECRET, to.auth_secret))
            status = (await self._outbound.post(to.endpoint, body, headers)).status
        except Unreachable as error:
            log.info("a push service cannot be reached", endpoint_host=to.endpoint.split("/")[2], reason=str(error))
            status = 503
        PUSHES.labels("taken" if status < 300 else "gone" if status in GONE else "refused").inc()
        return status
