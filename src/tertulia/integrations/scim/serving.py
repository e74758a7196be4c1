"""What all endpoints below /scim/v2 have in common: their address, their place in our description, and versions."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tertulia.integrations.scim.answers import PREFIX, Resource, ScimRefusal
from tertulia.kernel import endpoint
from tertulia.kernel.auth import DirectoryClient
from tertulia.kernel.call import Call
from tertulia.kernel.conditions import entity_tags
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tertulia.people.users.authentication.holding import hold_credential

Function = TypeVar("Function", bound=Callable[..., Awaitable[Any]])

# They are described by their own protocol (/Schemas), and so not listed in our description.


def get(path: str) -> Callable[[Function], Function]:
    """GET at /scim/v2 + path."""
    return endpoint.get(path, prefix=PREFIX, listed=False)


def delete(path: str) -> Callable[[Function], Function]:
    """DELETE at /scim/v2 + path."""
    return endpoint.delete(path, prefix=PREFIX, listed=False)


def post(path: str, *, while_frozen: bool = False) -> Callable[[Function], Function]:
    """POST at /scim/v2 + path, with the body in `call.body`."""
    return endpoint.post(path, prefix=PREFIX, listed=False, raw_body=True, while_frozen=while_frozen)


def put(path: str) -> Callable[[Function], Function]:
    """PUT at /scim/v2 + path, with the body in `call.body`."""
    return endpoint.put(path, prefix=PREFIX, listed=False, raw_body=True)


def patch(path: str) -> Callable[[Function], Function]:
    """PATCH at /scim/v2 + path, with the body in `call.body`."""
    return endpoint.patch(path, prefix=PREFIX, listed=False, raw_body=True)


def base_of(caller: DirectoryClient, call: Call, settings: Settings) -> str:
    """Where /scim/v2 of the organization is. In development it is where the request came to, whatever port that is."""
    host = call.header("host") if settings.development else None
    return f"{settings.external_scheme}://{host}{PREFIX}" if host else settings.url_of(caller.subdomain) + PREFIX


def is_known(call: Call, resource: Resource) -> bool:
    """Whether the client has this version already (If-None-Match)."""
    version = resource["meta"].get("version", "")
    return bool(version) and version.removeprefix("W/") in entity_tags(call.header("if-none-match"))


def check_expected(call: Call, resource: Resource) -> None:
    """Refuse to change what is not as the client thinks (If-Match)."""
    header = call.header("if-match")
    if header is None or header.strip() == "*":
        return
    if resource["meta"]["version"].removeprefix("W/") not in entity_tags(header):
        raise ScimRefusal("The resource has changed since you read it.", status=412)


@asynccontextmanager
async def writing(database: Database, caller: DirectoryClient) -> AsyncIterator[Transaction]:
    """A transaction by which a directory changes something. Its token is asked for once more: bodies are read in turns, and locks
    are waited for. Last of all, as whoever revokes one holds accounts before it."""
    async with database.transaction() as tx:
        yield tx
        await hold_credential(tx, caller)
