"""Take away what an import brought: a half import with its organization, or what a newer archive replaces.

Messages and files go in batches, all else in one transaction. Whoever is stopped begins again.
"""

from collections.abc import Callable, Sequence

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.loading.beginning import REMOVING, alone
from tertulia.content.storage import orphans
from tertulia.files.remote_pictures.fetching import drop_objects
from tertulia.files.remote_pictures.queries import Removed
from tertulia.files.uploads.model import StoredFile
from tertulia.files.uploads.queries import FILE
from tertulia.files.uploads.thumbnails.sizes import thumbnail_keys
from tertulia.kernel.db import Database, Transaction
from tertulia.organization.custom_emoji.actions import key_of as emoji_key
from tertulia.organization.custom_emoji.model import still_name
from tertulia.organization.realms.pictures.actions import key_of as picture_key
from tertulia.people.avatars.actions import keys_of as avatar_keys

MESSAGES_AT_ONCE = 5000
FILES_AT_ONCE = 500
_CLAIM = """
update realm_import set stage = $2 from realm
where realm.id = realm_id and subdomain = $1 and finished is null and not renews returning realm_id
"""
_MESSAGES = """
with first as (select id from message where conversation_id = $1 limit $2),
gone as (delete from message using first where message.id = first.id returning 1)
select count(*) from gone
"""
_FILES = f"""
delete from attachment where id in (select id from attachment where realm_id = $1 limit $2) returning {FILE}
"""  # noqa: S608
_OF_CHANNELS = "channel_id in (select id from channel where realm_id = $1)"
_OF_PEOPLE = "user_id in (select id from account where realm_id = $1)"
_REST = (
    ("read_state", "conversation_id in (select id from conversation where realm_id = $1)"),
    *(
        (table, _OF_PEOPLE)
        for table in ("draft", "saved_snippet", "muted_user", "alert_word", "user_status", "bot_default")
    ),
    *((table, "realm_id = $1") for table in ("scheduled_message", "reminder", "default_channel", "realm_picture")),
    *((table, _OF_CHANNELS) for table in ("subscription", "channel_day")),
    ("topic", "conversation_id in (select id from channel where realm_id = $1)"),
    *((table, "realm_id = $1") for table in ("channel", "channel_folder", "conversation")),
    *((table, "realm_id = $1") for table in ("custom_emoji", "linkifier", "playground", "profile_value")),
    *((table, "realm_id = $1") for table in ("profile_field", "realm_domain", "realm_permission", "group_member")),
    *((table, "realm_id = $1") for table in ("group_subgroup", "user_group")),
)
"""What is left of it after messages and files: who refers to others goes before them. The rest goes with what it belongs to."""
_ITSELF = (("account", "realm_id = $1"), ("realm", "id = $1"))

Told = Callable[[str, int, int], None]


async def remove_half(database: Database, subdomain: str, told: Told) -> None:
    """All of a half import. ArchiveFailed where there is none."""
    async with alone(database):
        async with database.transaction() as tx:
            realm_id = await tx.fetchval(_CLAIM, subdomain, REMOVING)
        if realm_id is None:
            raise ArchiveFailed(
                f"There is no half import at the subdomain {subdomain!r}. An organization that is whole, or was before a"
                " newer archive came, is not removed by this command."
            )
        await _remove(database, realm_id, (*_REST, *_ITSELF), told)


async def clear(database: Database, realm_id: int, told: Told) -> None:
    """All that an import brought, but for the organization itself and its people."""
    await _remove(database, realm_id, _REST, told)


async def _remove(database: Database, realm_id: int, rest: Sequence[tuple[str, str]], told: Told) -> None:
    await _remove_messages(database, realm_id, told)
    await _remove_files(database, realm_id, told)
    told("the rest", 0, 1)
    async with database.transaction() as tx:
        await _drop_pictures(tx, realm_id)
        for table, of_realm in rest:
            await tx.execute(f"delete from {table} where {of_realm}", realm_id)  # noqa: S608
    told("the rest", 1, 1)


async def _remove_messages(database: Database, realm_id: int, told: Told) -> None:
    async with database.reader() as reader:
        rows = await reader.fetch("select id from conversation where realm_id = $1", realm_id)
    for done, row in enumerate(rows):
        told("conversations", done, len(rows))
        removed = MESSAGES_AT_ONCE
        while removed == MESSAGES_AT_ONCE:
            async with database.transaction() as tx:
                removed = await tx.fetchval(_MESSAGES, row["id"], MESSAGES_AT_ONCE)
    told("conversations", len(rows), len(rows))


async def _remove_files(database: Database, realm_id: int, told: Told) -> None:
    """The objects are deleted by the worker, once nobody can refer to them."""
    done = 0
    while True:
        async with database.transaction() as tx:
            files = [StoredFile(**row) for row in await tx.fetch(_FILES, realm_id, FILES_AT_ONCE)]
            await orphans.drop(tx, [key for file in files for key in (file.key, *thumbnail_keys(file))])
        if not files:
            return
        done += len(files)
        told("files", done, done)


async def _drop_pictures(tx: Transaction, realm_id: int) -> None:
    keys: list[str] = []
    avatars = """
    update account set avatar = null from account as before
    where account.realm_id = $1 and account.avatar is not null and before.id = account.id returning before.avatar
    """
    for row in await tx.fetch(avatars, realm_id):
        keys += avatar_keys(realm_id, row["avatar"])
    for row in await tx.fetch("select file_name, moves from custom_emoji where realm_id = $1", realm_id):
        keys.append(emoji_key(realm_id, row["file_name"]))
        if row["moves"]:
            keys.append(emoji_key(realm_id, still_name(row["file_name"])))
    pictures = "select kind, name from realm_picture where realm_id = $1 and name is not null"
    keys += [picture_key(realm_id, row["kind"], row["name"]) for row in await tx.fetch(pictures, realm_id)]
    await orphans.drop(tx, keys)
    remote = "delete from remote_picture where realm_id = $1 returning realm_id, key, size"
    await drop_objects(tx, [Removed(**row) for row in await tx.fetch(remote, realm_id)])
