"""SQL of incoming webhooks: one statement per function."""

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.sealing import SealedColumn

SECRET = SealedColumn("hook_secret", "secret", row="id", is_text=True)


async def put_secret(tx: Transaction, bot_id: int, integration: str, secret: str) -> None:
    """What the service shows from now on."""
    sql = """
    insert into hook_secret (user_id, integration, secret) values ($1, $2, $3)
    on conflict (user_id, integration) do update set secret = excluded.secret
    """
    await tx.execute(sql, bot_id, integration, tx.sealer.seal_text(SECRET, secret))


async def delete_secret(tx: Transaction, bot_id: int, integration: str) -> None:
    """From now on the bot's key is enough."""
    await tx.execute("delete from hook_secret where user_id = $1 and integration = $2", bot_id, integration)


async def has_secrets(tx: Transaction, bot_id: int) -> bool:
    """Whether any service has to show one."""
    found: bool = await tx.fetchval("select exists (select from hook_secret where user_id = $1)", bot_id)
    return found


async def find_secret(reader: Reader, bot_id: int, integration: str) -> str | None:
    """What the service has to show, if anything."""
    sql = "select secret from hook_secret where user_id = $1 and integration = $2"
    stored: str | None = await reader.fetchval(sql, bot_id, integration)
    return None if stored is None else reader.sealer.open_text(SECRET, stored)
