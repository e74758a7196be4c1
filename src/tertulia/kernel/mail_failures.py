"""Addresses that refuse mail: counted, so that nobody goes on writing to what is gone.

A refusal is one of the address itself (5xx to RCPT): a mail server that is away, or that dislikes a text, says nothing about
it. A mail that is taken ends the count. What people ask for themselves, such as a new password, is tried at any address.
"""

import re

from tertulia.kernel.db import Reader, Transaction

MAX_FAILED, FAILED_DAYS = 3, 2
"""An address that refused so many mails in a row, for so many days, is not written to unasked any more. Both: a mistake of a
mail server that lasts for an afternoon costs nobody their mails."""
MAX_REASON = 500

IS_STOPPED = (
    f"(mail_failure.failures >= {MAX_FAILED} and mail_failure.failing_since <= now() - interval '{FAILED_DAYS} days')"
)


async def note_failed(tx: Transaction, address: str, reason: str) -> None:
    """Count a refusal."""
    sql = """
    insert into mail_failure (email_key, failures, reason) values ($1, 1, $2) on conflict (email_key) do update set
        failures = mail_failure.failures + 1, failed_at = now(), reason = excluded.reason
    """
    # Administrators see it, and need not see the address.
    told = re.sub(re.escape(address), "…", reason.replace("\0", ""), flags=re.IGNORECASE)
    await tx.execute(sql, _key(address), told[:MAX_REASON])


async def note_taken(tx: Transaction, address: str) -> None:
    """The address takes mail."""
    await tx.execute("delete from mail_failure where email_key = $1", _key(address))


async def is_stopped(reader: Reader, address: str) -> bool:
    """Whether nothing is written to an address unasked."""
    sql = f"select exists (select from mail_failure where email_key = $1 and {IS_STOPPED})"  # noqa: S608
    return bool(await reader.fetchval(sql, _key(address)))


def _key(address: str) -> str:
    return address.strip().lower()
