"""What an account is and has: emptied in one transaction, while the accounts are held. Doing it twice changes nothing."""

from collections.abc import Sequence

from tertulia.content.storage import orphans
from tertulia.events.log.record import record
from tertulia.kernel.auth import EVERYONE
from tertulia.kernel.db import Transaction
from tertulia.messaging.erasure import queries, texts
from tertulia.messaging.erasure.model import address_of, name_of
from tertulia.messaging.erasure.tables import TABLES, Gone
from tertulia.people.avatars.actions import replace_avatar
from tertulia.people.profiles.events import tell_values
from tertulia.people.users import events
from tertulia.people.users.archives import StoredArchives
from tertulia.people.users.authentication.revocation import end_access
from tertulia.people.users.model import Account

ALL = 1_000_000_000
PROFILE = "profile_value"
ELSEWHERE = (PROFILE, "api_key", "browser_session")
"""Keys and sessions end in one place, which tells the requests that wait with one."""
SMALL = {
    table: line
    for table, line in TABLES.items()
    if isinstance(line, Gone) and not line.is_large and table not in ELSEWHERE
}
LARGE = {table: line for table, line in TABLES.items() if isinstance(line, Gone) and line.is_large}


async def scrub(
    tx: Transaction, archives: StoredArchives, realm_id: int, accounts: Sequence[Account]
) -> dict[str, int]:
    """Empty accounts that are held and deactivated; by table, how many rows are gone. Those who know them are told."""
    tx.allow_many_events()
    ids = [account.id for account in accounts]
    await orphans.hasten(tx, await queries.parts_of_uploads(tx, ids))
    shown = {account.id: await queries.shown(tx, account.id) for account in accounts}
    for account in accounts:
        name = _name(account)
        if shown[account.id].full_name != name:
            await texts.rename_in_unsent(tx, realm_id, account.id, shown[account.id].full_name, name)
    done = await queries.delete_by_address(tx, realm_id, ids)
    for table, line in SMALL.items():
        done[table] = done.get(table, 0) + await queries.delete_rows(tx, table, line.column, ids, ALL)
    exports = await queries.delete_exports(tx, ids)
    exports += await queries.end_exports_of_others(tx, realm_id, ids)
    if exports:
        await archives.tell(tx, realm_id)
    await orphans.drop(tx, [key for key in exports if key is not None])
    done["export_job"] = len(exports)
    await end_access(tx, ids)
    # The row of the realm comes last: what a user record shows changes its number.
    done[PROFILE] = await queries.delete_rows(tx, PROFILE, "user_id", ids, ALL)
    for account in accounts:
        await _empty(tx, realm_id, account, shown[account.id])
    return done


async def _empty(tx: Transaction, realm_id: int, account: Account, shown: queries.Shown) -> None:
    name, email = _name(account), address_of(account.id)
    if shown.avatar is not None:
        await replace_avatar(tx, realm_id, account.id, shown.avatar, None)
    if not await queries.scrub_account(tx, account.id, name, email):
        return
    to = await events.those_who_know(tx, realm_id, account.id)
    tx.emit(realm_id, events.updated(to, account.id, full_name=name))
    tx.emit(realm_id, events.address_changed(to, account.id, email, EVERYONE))
    tx.emit(realm_id, events.updated(to, account.id, new_email=email))
    if shown.timezone:
        tx.emit(realm_id, events.updated(to, account.id, timezone=""))
    if shown.status:
        gone = {"status_text": "", "emoji_name": "", "emoji_code": "", "reaction_type": ""}
        tx.emit(realm_id, record(to, "user_status", {"user_id": account.id, **gone}))
    await tell_values(tx, realm_id, account.id, [], shown.field_ids)


def _name(account: Account) -> str:
    return name_of(account.id, is_bot=account.is_bot)
