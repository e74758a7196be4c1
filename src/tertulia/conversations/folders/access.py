"""The one way for a channel into a folder."""

from tertulia.conversations.folders import queries
from tertulia.conversations.folders.rules import no_such_folder
from tertulia.kernel.db import Transaction


async def hold_folder(tx: Transaction, realm_id: int, folder_id: int) -> None:
    """Refuse a folder that is not there or archived. It stays in use until the commit."""
    if not await queries.is_in_use(tx, realm_id, folder_id):
        raise no_such_folder()
