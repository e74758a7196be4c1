"""SQL of sweeping files."""

from collections.abc import Sequence

from tertulia.kernel.db import Transaction
from tertulia.uploads.model import StoredFile
from tertulia.uploads.queries import FILE

# The file's own name may be written in more than one way; what is before it is the file's alone.
_NAMED = "strpos(content, substring(path_id from '^[^/]+/[^/]+/[^/]+/')) > 0"


async def lock_unused(tx: Transaction, days: int, limit: int) -> list[tuple[int, StoredFile]]:
    """Files that no message has linked for so many days, held, each with its realm."""
    sql = f"""
    select attachment.realm_id, {FILE} from attachment
    where coalesce(unlinked_at, created_at) < now() - make_interval(days => $1)
        and not exists (select from attachment_link where attachment_id = attachment.id)
        and not exists (select from scheduled_message where scheduled_message.realm_id = attachment.realm_id and {_NAMED})
        and not exists (select from draft where user_id = owner_id and {_NAMED})
        and not exists (select from saved_snippet where user_id = owner_id and {_NAMED})
    order by attachment.id limit $2 for update of attachment skip locked
    """
    found = []
    for row in await tx.fetch(sql, days, limit):
        values = dict(row)
        found.append((values.pop("realm_id"), StoredFile(**values)))
    return found


async def linked_meanwhile(tx: Transaction, attachment_ids: Sequence[int]) -> set[int]:
    """Those of the held files that a message came to link just before they were held."""
    sql = "select distinct attachment_id from attachment_link where attachment_id = any($1::bigint[])"
    return {row["attachment_id"] for row in await tx.fetch(sql, attachment_ids)}
