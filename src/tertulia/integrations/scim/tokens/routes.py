"""Endpoints for owners: the tokens of directories."""

import msgspec

from tertulia.integrations.scim.tokens import actions, queries
from tertulia.integrations.scim.tokens.actions import NewToken
from tertulia.integrations.scim.tokens.queries import TokenRecord
from tertulia.kernel.auth import HumanOwner
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import delete, get, post
from tertulia.people.users.reauthentication import Proof, Reauthentication


class Tokens(msgspec.Struct):
    """The answer of GET /scim/tokens."""

    tokens: list[TokenRecord]


@get("/scim/tokens")
async def get_scim_tokens(caller: HumanOwner, reader: Reader) -> Tokens:
    """The tokens with which directories call `/scim/v2`, without the tokens themselves."""
    return Tokens(await queries.tokens_of(reader, caller.realm_id))


@post("/scim/tokens")
async def create_scim_token(
    caller: HumanOwner,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    label: str,
    password: str | None = None,
    code: str | None = None,
) -> NewToken:
    """Make a token for a directory, which makes accounts with it and switches them off. Needs your password.

    This is the only answer that has the token: it is stored as a digest.
    """
    await again.check(caller, call, Proof(password, code))
    async with database.transaction() as tx:
        return await actions.make_token(tx, caller.realm_id, label, caller)


@delete("/scim/tokens/{token_id}")
async def revoke_scim_token(
    caller: HumanOwner,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    token_id: int,
    password: str | None = None,
    code: str | None = None,
) -> None:
    """End a token of a directory. Needs your password."""
    await again.check(caller, call, Proof(password, code))
    async with database.transaction() as tx:
        await actions.revoke_token(tx, caller.realm_id, token_id, caller)
