"""What a bot keeps of its conversations when it gets another owner (people/users/handover.py): what they could read."""

from tertulia.conversations.channels import statements
from tertulia.conversations.channels.actions.membership import unsubscribe
from tertulia.conversations.channels.queries import channels_out_of_reach
from tertulia.conversations.read_state.marking.queries import forget_marks
from tertulia.kernel.db import Transaction
from tertulia.people.bots.tokens import renew_token


async def hold_conversations(tx: Transaction, bot_id: int) -> None:
    """Hold what not everybody can read: direct conversations and private channels. Of people, nothing."""
    await statements.lock_private_conversations(tx, bot_id)


async def part(tx: Transaction, realm_id: int, bot_id: int, owner_id: int) -> None:
    """Take from a bot what its new owner could not read, while the conversations are held; its server gets another token."""
    if hidden := await channels_out_of_reach(tx, bot_id, owner_id):
        await unsubscribe(tx, realm_id, hidden, [bot_id])
    await statements.forget_private_history(tx, bot_id)
    await forget_marks(tx, bot_id)
    await renew_token(tx, realm_id, bot_id, owner_id)
