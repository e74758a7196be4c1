"""The token that a bot shows to its server, when the bot gets another owner."""

from tertulia.kernel.db import Transaction
from tertulia.kernel.ids import new_api_key
from tertulia.people.bots import events, queries


async def renew_token(tx: Transaction, realm_id: int, bot_id: int, owner_id: int) -> None:
    """Whoever owned the bot before knows the old one. Administrators are told here, a new owner who is none with the bot."""
    if not (await queries.get_bot(tx, bot_id)).services:
        return
    await queries.put_token(tx, bot_id, new_api_key())
    to = await queries.administrator_ids(tx, realm_id)
    for told in events.services_changed(to, await queries.get_bot(tx, bot_id), owner_id):
        tx.emit(realm_id, told)
