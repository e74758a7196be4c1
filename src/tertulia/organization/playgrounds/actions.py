"""Adding and removing playgrounds, as an administrator."""

import re

from tertulia.content.markup.templates import is_template, variables
from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note
from tertulia.organization.playgrounds import queries
from tertulia.organization.playgrounds.bounds import PLAYGROUNDS
from tertulia.organization.realms.changing.actions import check_is_administrator
from tertulia.organization.realms.queries import lock_realm

MAX_NAME_LENGTH = 40
MAX_LANGUAGE_LENGTH = 40
MAX_TEMPLATE_LENGTH = 1000
_LANGUAGE = re.compile(r"[A-Za-z0-9 _+./#-]+")
CODE = "code"
"""The variable of the template that stands for the code."""


async def add(tx: Transaction, caller: Caller, name: str, language: str, template: str) -> int:
    """Add a playground; returns its id."""
    await check_is_administrator(tx, caller)
    await lock_realm(tx, caller.realm_id)
    check_playground(name, language, template)
    playground_id = await queries.insert_playground(tx, caller.realm_id, name, language, template)
    if playground_id is None:
        raise Refusal("There is a playground of this name for this language already.")
    await check_count(tx, PLAYGROUNDS, caller.realm_id, adding=0)
    await _tell(tx, caller)
    texts = {"name": (None, name), "language": (None, language), "url_template": (None, template)}
    note(tx, caller.realm_id, Act.PLAYGROUND_ADDED, ("playground", playground_id), **texts)
    return playground_id


async def remove(tx: Transaction, caller: Caller, playground_id: int) -> None:
    """One less."""
    await check_is_administrator(tx, caller)
    await lock_realm(tx, caller.realm_id)
    if not await queries.delete_playground(tx, caller.realm_id, playground_id):
        raise Refusal("There is no such playground.")
    await _tell(tx, caller)
    note(tx, caller.realm_id, Act.PLAYGROUND_REMOVED, ("playground", playground_id))


def check_playground(name: str, language: str, template: str) -> None:
    """Refuse what cannot be one."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise Refusal(f"The name of a playground has 1 to {MAX_NAME_LENGTH} characters.")
    if len(language) > MAX_LANGUAGE_LENGTH or not _LANGUAGE.fullmatch(language):
        raise Refusal("Invalid characters in pygments language")
    is_address = template.startswith(("https://", "http://")) and len(template) <= MAX_TEMPLATE_LENGTH
    if not is_address or not is_template(template):
        raise Refusal("Invalid URL template.")
    if variables(template) != {CODE}:
        raise Refusal('The URL template has one variable, "code", for the code that is tried.')


async def _tell(tx: Transaction, caller: Caller) -> None:
    event = {"realm_playgrounds": await queries.playgrounds_of(tx, caller.realm_id)}
    tx.emit(caller.realm_id, record(Audience(realm=True), "realm_playgrounds", event))
