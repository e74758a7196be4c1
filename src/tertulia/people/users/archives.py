"""Archives with people's data that lie in the store: what features below them do to people, they hear of."""

from tertulia.kernel.db import Transaction


class StoredArchives:
    """Those of one organization. The feature above that makes them provides it as a service."""

    async def end_consented(self, tx: Transaction, realm_id: int) -> None:
        """Somebody has withdrawn their consent: nobody fetches what was made while they agreed."""
        raise NotImplementedError

    async def tell(self, tx: Transaction, realm_id: int) -> None:
        """Some of them were ended: administrators hear of it."""
        raise NotImplementedError
