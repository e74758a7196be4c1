"""SQL of sweeping files: one statement per function."""

from collections.abc import Sequence

from tertulia.files.uploads.model import StoredFile, Thumbnail
from tertulia.files.uploads.queries import FILE
from tertulia.files.uploads.thumbnails.sizes import original_key
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.freezing import is_frozen
from tertulia.organization.realms.queries import is_half

# The file's own name may be written in more than one way; what is before it is the file's alone.
_NAMED = "strpos(content, substring(path_id from '^[^/]+/[^/]+/[^/]+/')) > 0"


# The messages of an import that goes on later link them then.
_UNLINKED = f"""
    coalesce(unlinked_at, created_at) < now() - make_interval(days => $1)
    and not {is_frozen("attachment.realm_id")}
    and not {is_half("attachment.realm_id")}
    and not exists (select from attachment_link where attachment_id = attachment.id)
"""
_UNUSED = f"""
    {_UNLINKED}
    and not exists (select from scheduled_message where scheduled_message.realm_id = attachment.realm_id and {_NAMED})
    and not exists (select from draft where user_id = owner_id and {_NAMED})
    and not exists (select from saved_snippet where user_id = owner_id and {_NAMED})
"""


async def unlinked_files(reader: Reader, days: int, after: int, limit: int) -> list[int]:
    """Files after this one that no message has linked for so many days. Whether anybody is writing of one is asked for each by
    itself: somebody may have thousands, and thousands of drafts, and one statement for all would never come to its end."""
    sql = f"select id from attachment where id > $2 and {_UNLINKED} order by id limit $3"
    return [row["id"] for row in await reader.fetch(sql, days, after, limit)]


async def lock_unused(tx: Transaction, days: int, attachment_id: int) -> tuple[int, StoredFile] | None:
    """Such a file, held, with its realm; None if it is no longer one, or somebody else holds it."""
    sql = f"""
    select attachment.realm_id, {FILE} from attachment where attachment.id = $2 and {_UNUSED}
    for update of attachment skip locked
    """
    row = await tx.fetchrow(sql, days, attachment_id)
    if row is None:
        return None
    values = dict(row)
    return values.pop("realm_id"), StoredFile(**values)


async def is_linked(reader: Reader, attachment_id: int) -> bool:
    """Whether a message links a file: one may have come to just before the file was held."""
    sql = "select exists (select from attachment_link where attachment_id = $1)"
    return bool(await reader.fetchval(sql, attachment_id))


async def owned_objects(tx: Transaction, keys: Sequence[str]) -> set[str]:
    """Those of the held objects that are a file, or its thumbnail: who made it a second time and died has left them.
    And files that were deleted while a legal hold was upon them."""
    sql = f"""
    select loose.key from unnest($1::text[], $2::text[]) as loose(key, original)
    join attachment on attachment.key = original
    where loose.key = original or thumbnail = {Thumbnail.READY}
    union select key from held_copy where key = any($1::text[])
    """
    return {row["key"] for row in await tx.fetch(sql, keys, [original_key(key) for key in keys])}
