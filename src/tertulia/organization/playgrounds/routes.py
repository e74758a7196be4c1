"""Endpoints of playgrounds. Clients read them with POST /register."""

import msgspec

from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import delete, post
from tertulia.organization.playgrounds import actions


class Added(msgspec.Struct):
    """The answer of POST /realm/playgrounds."""

    id: int


@post("/realm/playgrounds")
async def add_playground(
    caller: Administrator, tx: Transaction, *, name: str, pygments_language: str, url_template: str
) -> Added:
    """Add a code playground: a site where code of a language can be run. The URL template (RFC 6570) has the variable `code`."""
    return Added(await actions.add(tx, caller, name.strip(), pygments_language.strip(), url_template.strip()))


@delete("/realm/playgrounds/{playground_id}")
async def remove_playground(caller: Administrator, tx: Transaction, *, playground_id: int) -> None:
    """Remove a playground."""
    await actions.remove(tx, caller, playground_id)
