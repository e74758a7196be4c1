"""Consent to be in an export of the organization: what hangs on it ends with it."""

from tertulia.kernel.db import Transaction


class ConsentedExports:
    """Exports with the private data of those who agree. The feature above that makes them provides it as a service."""

    async def end(self, tx: Transaction, realm_id: int) -> None:
        """Somebody of the organization has withdrawn: nobody fetches what was made while they agreed."""
        raise NotImplementedError
