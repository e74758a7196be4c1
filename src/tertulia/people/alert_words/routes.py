"""Endpoints of alert words."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, post
from tertulia.people.alert_words import actions, queries

Words = Annotated[list[str], msgspec.Meta(max_length=10_000)]


class AlertWords(msgspec.Struct):
    """All words that alert the caller."""

    alert_words: list[str]


@get("/users/me/alert_words")
async def get_alert_words(caller: Person, reader: Reader) -> AlertWords:
    """Your alert words."""
    return AlertWords(await queries.words_of(reader, caller.user_id))


@post("/users/me/alert_words")
async def add_alert_words(caller: Person, tx: Transaction, *, alert_words: Words) -> AlertWords:
    """Add alert words; the answer is the whole list. Case makes no difference, nor does space around a word."""
    return AlertWords(await actions.add_words(tx, caller, alert_words))


@delete("/users/me/alert_words")
async def remove_alert_words(caller: Person, tx: Transaction, *, alert_words: Words) -> AlertWords:
    """Remove alert words; the answer is the whole list. Unknown ones make no difference."""
    return AlertWords(await actions.remove_words(tx, caller, alert_words))
