"""The key that push services know us by: made once, kept in the database, so that all processes have the same."""

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.notifications.push import queries
from tertulia.notifications.push.crypto import Signer, new_private_key


class PushKeys:
    """Offers the signer of this server."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        host = settings.external_host.partition(":")[0]
        self._contact = f"mailto:{settings.mail_from or f'noreply@{host}'}"
        self._signer: Signer | None = None

    async def signer(self) -> Signer:
        """The same each time, in each process."""
        if self._signer is None:
            self._signer = Signer(await self._key(), self._contact)
        return self._signer

    async def _key(self) -> bytes:
        async with self._database.reader() as reader:
            found = await queries.find_key(reader)
        if found is None:
            async with self._database.transaction() as tx:
                await queries.make_key(tx, new_private_key())
                found = await queries.find_key(tx)
        assert found is not None
        return found
