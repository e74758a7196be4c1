"""Archives with people's data that lie in the store: what features below them do to people, they hear of."""

from tertulia.kernel.db import Transaction


class StoredArchives:
    """Those of one organization. The feature above that makes them provides it as a service."""

    async def leave_out(self, tx: Transaction, realm_id: int, user_id: int) -> None:
        """Somebody has withdrawn their consent: nobody fetches what they are in."""
        raise NotImplementedError

    async def tell(self, tx: Transaction, realm_id: int) -> None:
        """Some of them were ended: administrators hear of it."""
        raise NotImplementedError
