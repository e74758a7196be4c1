"""Endpoints of the alerts feature."""

import msgspec

from tertulia.alerts import actions, queries
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, post


class AlertWords(msgspec.Struct):
    """All words that alert the caller."""

    alert_words: list[str]


@get("/users/me/alert_words")
async def get_alert_words(caller: Person, reader: Reader) -> AlertWords:
    """Your alert words."""
    return AlertWords(await queries.words_of(reader, caller.user_id))


@post("/users/me/alert_words")
async def add_alert_words(caller: Person, tx: Transaction, *, alert_words: list[str]) -> AlertWords:
    """Add alert words; the answer is the whole list. Case makes no difference, nor does space around a word."""
    return AlertWords(await actions.add_words(tx, caller, alert_words))


@delete("/users/me/alert_words")
async def remove_alert_words(caller: Person, tx: Transaction, *, alert_words: list[str]) -> AlertWords:
    """Remove alert words; the answer is the whole list. Unknown ones make no difference."""
    return AlertWords(await actions.remove_words(tx, caller, alert_words))
