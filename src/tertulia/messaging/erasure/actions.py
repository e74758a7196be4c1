"""Erasing a person: the first transaction, and the steps after it. Whoever was killed calls `go_on` again."""

import msgspec
import structlog

from tertulia.content.storage import Store, StoreUnavailable
from tertulia.files.uploads.actions import forget_file
from tertulia.files.uploads.queries import lock_own
from tertulia.files.uploads.sweeping.actions import sweep_objects
from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.erasure import messages, queries, texts
from tertulia.messaging.erasure.model import AFTER, SETTLED_SECONDS, SHARED_ADDRESS, Erasure, Messages, Stage
from tertulia.messaging.erasure.scrubbing import LARGE, scrub
from tertulia.messaging.erasure.tables import TABLES
from tertulia.organization.audit_log import Act, Word, note, user
from tertulia.organization.audit_log.queries import erase as erase_details
from tertulia.organization.realms.freezing import check_not_frozen
from tertulia.people.users.actions import get_both
from tertulia.people.users.activation import turn_off
from tertulia.people.users.archives import StoredArchives
from tertulia.people.users.model import Account
from tertulia.people.users.queries import lock_accounts
from tertulia.people.users.rules import check_is_owner, is_last_owner, no_such_user

log = structlog.get_logger()

PORTION = 2000
FILES = 50
DUE = 20
RETRY_SECONDS = 300.0
"""Until one is tried again that something speaks against."""
ENDED = (
    "api_key",
    "browser_session",
    "channel_address",
    "email_change",
    "invitation",
    "password_reset",
    "reply_address",
)
"""They end with the account, before it is emptied."""


async def begin(tx: Transaction, realm_id: int, user_id: int, kept: Messages, asked_by: int | None = None) -> int:
    """End somebody's account for good, and note what is to be erased; returns the number of the erasure.

    Whoever asks is an owner at this moment, or the operator (None). Of somebody who is erased already, this says anew what
    becomes of their messages.
    """
    await check_not_frozen(tx, realm_id)
    accounts = await _hold(tx, realm_id, user_id, asked_by)
    ids = [account.id for account in accounts]
    if await queries.held_by(tx, realm_id, ids):
        raise Refusal("This person, or the whole organization, is under a legal hold: nothing of it is erased.")
    ended = await queries.count_rows(tx, ids, ENDED)
    if active := [account for account in accounts if account.is_active]:
        await turn_off(tx, realm_id, active)
    await queries.begin(tx, realm_id, user_id, ids, kept, asked_by)
    erasure = await queries.find_erasure(tx, user_id)
    assert erasure is not None
    for account in accounts:
        note(tx, realm_id, Act.USER_ERASED, user(account.id), messages=(None, Word(kept.value)))
    await queries.add_counts(tx, erasure, ended | {"account": len(accounts)})
    return erasure.id


async def _hold(tx: Transaction, realm_id: int, user_id: int, asked_by: int | None = None) -> list[Account]:
    """A person after their bots, held alone: whoever writes something of theirs at this moment is waited for."""
    asking = [] if asked_by is None else [asked_by]
    held = await lock_accounts(tx, realm_id, [user_id, *asking], owners=True, tied_to=user_id, changes_standing=True)
    if asked_by is not None:
        check_is_owner(get_both(held, asked_by, user_id)[0])
    target = held.get(user_id)
    if target is None or target.is_bot or target.email == SHARED_ADDRESS:
        raise no_such_user()
    if target.is_active and is_last_owner(target, held.values()):
        raise Refusal("This is the only owner of the organization: make somebody else an owner first.")
    return [*(one for one in held.values() if one.bot_owner_id == user_id), target]


async def go_on_with_all(database: Database, store: Store, archives: StoredArchives) -> int:
    """What the worker does: go on with what somebody was killed at, and look once more at what was erased; how many."""
    for count in range(DUE):
        async with database.transaction() as tx:
            erasure_id = await queries.claim_due(tx)
        if erasure_id is None:
            return count
        try:
            await go_on(database, store, archives, erasure_id)
        except LOST:
            raise
        except Exception:
            # Others are erased all the same, before this one is tried again.
            log.exception("an erasure failed", erasure_id=erasure_id)
            async with database.transaction() as tx:
                await queries.try_later(tx, erasure_id, RETRY_SECONDS)
    return DUE


async def go_on(database: Database, store: Store, archives: StoredArchives, erasure_id: int) -> bool:
    """Do what is left of an erasure; whether all of it is done. It is not if a legal hold came in between."""
    while True:
        async with database.transaction() as tx:
            erasure = await queries.hold_erasure(tx, erasure_id)
        if erasure is None or erasure.stage is None:
            break
        done, last_id = await _step(database, store, archives, erasure, erasure.stage)
        stage = AFTER[erasure.stage] if last_id is None else erasure.stage
        kept = await _count_kept(database, erasure) if stage is None else {}
        async with database.transaction() as tx:
            now = await queries.hold_erasure(tx, erasure_id)
            if now is None or (now.stage, now.last_id, now.messages) != (
                erasure.stage,
                erasure.last_id,
                erasure.messages,
            ):
                continue  # somebody else did it as well
            await queries.move_on(tx, now, stage, last_id or 0, done)
            if stage is None:
                await queries.note_kept(tx, erasure_id, kept)
            if stage is None and erasure.finished is None:
                await queries.put_off(tx, erasure_id, Stage.LAST, SETTLED_SECONDS)
                break
    async with database.reader() as reader:
        return bool(await reader.fetchval("select finished is not null from erasure where id = $1", erasure_id))


async def _step(
    database: Database, store: Store, archives: StoredArchives, erasure: Erasure, stage: Stage
) -> tuple[dict[str, int], int | None]:
    """Do some of a stage; by table, how many rows, and how far it is: None if that was the rest of it."""
    match stage:
        case Stage.ACCOUNT:
            return await _scrub(database, archives, erasure), None
        case Stage.ROWS:
            return await _rows(database, erasure)
        case Stage.FILES:
            return await _files(database, erasure)
        case Stage.MESSAGES:
            done = await messages.next_portion(database, erasure)
            return done, erasure.last_id + 1 if done else None
        case Stage.TEXTS:
            return await texts.next_portion(database, erasure)
        case Stage.REVISIONS:
            return await texts.next_revisions(database, erasure)
        case Stage.LAST:
            return await _again(database, store, archives, erasure)


async def _later_texts(database: Database, erasure: Erasure) -> None:
    """Who was writing to the person when they were erased had their old name."""
    last_id: int | None = erasure.since_message
    while last_id is not None:
        _, last_id = await texts.next_portion(database, msgspec.structs.replace(erasure, last_id=last_id))


async def _count_kept(database: Database, erasure: Erasure) -> dict[str, int]:
    """Table by table: some are read from end to end, and all of them in one statement would take longer than one may."""
    kept: dict[str, int] = {}
    for table in TABLES:
        async with database.reader() as reader:
            kept |= await queries.count_rows(reader, erasure.account_ids, (table,))
    return kept


async def _scrub(database: Database, archives: StoredArchives, erasure: Erasure) -> dict[str, int]:
    async with database.transaction() as tx:
        accounts = await _hold(tx, erasure.realm_id, erasure.user_id)
        done = await scrub(tx, archives, erasure.realm_id, accounts)
        names = [await erase_details(tx, erasure.realm_id, account.id) for account in accounts]
    return done | {"audit_detail": sum(names)}


async def _rows(database: Database, erasure: Erasure) -> tuple[dict[str, int], int | None]:
    done = {}
    for table, line in LARGE.items():
        async with database.transaction() as tx:
            done[table] = await queries.delete_rows(tx, table, line.column, erasure.account_ids, PORTION)
    return done, erasure.last_id + 1 if any(count == PORTION for count in done.values()) else None


async def _files(database: Database, erasure: Erasure) -> tuple[dict[str, int], int | None]:
    """A transaction for each: those who upload wait for no more than that. The messages that link them keep their text."""
    async with database.reader() as reader:
        found = await queries.files_after(reader, erasure.account_ids, FILES)
    for owner_id, attachment_id in found:
        async with database.transaction() as tx:
            if (file := await lock_own(tx, owner_id, attachment_id)) is not None:
                await forget_file(tx, erasure.realm_id, file)
    return {"attachment": len(found)}, erasure.last_id + 1 if found else None


async def _again(
    database: Database, store: Store, archives: StoredArchives, erasure: Erasure
) -> tuple[dict[str, int], int | None]:
    """A request that was under way when the account ended may have written something after that."""
    done = await _scrub(database, archives, erasure)
    for count in (_rows, _files):
        more, left = await count(database, erasure)
        while left is not None:
            again, left = await count(database, erasure)
            more = {name: more.get(name, 0) + again.get(name, 0) for name in {*more, *again}}
        done |= more
    if erasure.finished is not None:
        await _later_texts(database, erasure)
    try:
        done["orphan_object"] = await sweep_objects(database, store)
    except StoreUnavailable:
        done["orphan_object"] = 0  # the worker deletes them when the store is back
    return done, None
