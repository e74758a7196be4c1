"""SQL of flags: one statement per function."""

from tertulia.kernel.db import Reader


async def readers_of(reader: Reader, user_id: int, conversation_id: int, seq: int, sender_id: int) -> list[int]:
    """Who has read a message, as far as they let others know: without the sender, and those muted by or muting the user."""
    # One index scan of the conversation's read states; each answers from its set of numbers.
    sql = """
    select read_state.user_id from read_state join account on account.id = read_state.user_id
    where read_state.conversation_id = $2 and $3::bigint <@ read_state.read and $3::bigint <@ read_state.history
      and account.is_active and account.id <> $4
      and coalesce((account.settings->>'send_read_receipts')::boolean, true)
      and not exists (
          select from muted_user where (user_id, muted_id) in ((account.id, $1), ($1, account.id))
      )
    order by read_state.user_id
    """
    return [row["user_id"] for row in await reader.fetch(sql, user_id, conversation_id, seq, sender_id)]
