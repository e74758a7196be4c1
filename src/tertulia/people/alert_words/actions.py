"""Adding and removing alert words."""

from collections.abc import Iterable

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count, hold_count
from tertulia.kernel.db import Transaction
from tertulia.people.alert_words import queries
from tertulia.people.alert_words.bounds import ALERT_WORDS
from tertulia.people.alert_words.rules import clean_words
from tertulia.people.users.actions import get_both
from tertulia.people.users.queries import lock_accounts


async def add_words(tx: Transaction, caller: Caller, words: Iterable[str]) -> list[str]:
    """Add words; all there are now. One that is there already, in whatever case, stays as it is."""
    cleaned = clean_words(words)
    await _hold(tx, caller)
    await hold_count(tx, ALERT_WORDS, caller.person_id)
    added = await queries.insert_words(tx, caller.realm_id, caller.user_id, cleaned)
    await check_count(tx, ALERT_WORDS, caller.person_id, adding=0)
    return await _told(tx, caller, added)


async def remove_words(tx: Transaction, caller: Caller, words: Iterable[str]) -> list[str]:
    """Remove words, in whatever case; all there are now."""
    cleaned = clean_words(words)
    await _hold(tx, caller)
    return await _told(tx, caller, await queries.delete_words(tx, caller.user_id, cleaned))


async def _hold(tx: Transaction, caller: Caller) -> None:
    held = await lock_accounts(tx, caller.realm_id, [caller.user_id])
    get_both(held, caller.user_id, caller.user_id)


async def _told(tx: Transaction, caller: Caller, changed: int) -> list[str]:
    words = await queries.words_of(tx, caller.user_id)
    if changed:
        tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "alert_words", {"alert_words": words}))
    return words
