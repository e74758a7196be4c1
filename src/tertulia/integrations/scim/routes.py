"""Endpoints with which the service describes itself (RFC 7644, section 4)."""

from tertulia.integrations.scim import answers
from tertulia.integrations.scim.answers import Resource, no_such_resource, not_implemented
from tertulia.integrations.scim.requests import description
from tertulia.integrations.scim.serving import base_of, get, post
from tertulia.kernel.auth import DirectoryClient
from tertulia.kernel.call import Call
from tertulia.kernel.reply import Reply
from tertulia.kernel.settings import Settings


@get("/ServiceProviderConfig")
async def get_scim_config(caller: DirectoryClient, call: Call, settings: Settings) -> Reply:
    """What this service can do."""
    location = f"{base_of(caller, call, settings)}/ServiceProviderConfig"
    return answers.plain(_located((await description()).config, "ServiceProviderConfig", location))


@get("/Schemas")
async def get_scim_schemas(caller: DirectoryClient, call: Call, settings: Settings) -> Reply:
    """The attributes of the resources."""
    base = f"{base_of(caller, call, settings)}/Schemas"
    schemas = (await description()).schemas
    found = [_located(one, "Schema", f"{base}/{id}") for id, one in schemas.items()]
    return answers.page(found, len(found), 1)


@get("/Schemas/{id}")
async def get_scim_schema(caller: DirectoryClient, call: Call, settings: Settings, *, id: str) -> Reply:
    """The attributes of one kind of resources."""
    schemas = (await description()).schemas
    if id not in schemas:
        raise no_such_resource()
    location = f"{base_of(caller, call, settings)}/Schemas/{id}"
    return answers.plain(_located(schemas[id], "Schema", location))


@get("/ResourceTypes")
async def get_scim_resource_types(caller: DirectoryClient, call: Call, settings: Settings) -> Reply:
    """The kinds of resources."""
    base = f"{base_of(caller, call, settings)}/ResourceTypes"
    types = (await description()).resource_types
    found = [_located(one, "ResourceType", f"{base}/{id}") for id, one in types.items()]
    return answers.page(found, len(found), 1)


@get("/ResourceTypes/{id}")
async def get_scim_resource_type(caller: DirectoryClient, call: Call, settings: Settings, *, id: str) -> Reply:
    """One kind of resources."""
    types = (await description()).resource_types
    if id not in types:
        raise no_such_resource()
    location = f"{base_of(caller, call, settings)}/ResourceTypes/{id}"
    return answers.plain(_located(types[id], "ResourceType", location))


def _located(resource: Resource, kind: str, location: str) -> Resource:
    return {**resource, "meta": {"resourceType": kind, "location": location}}


# What RFC 7644 leaves to a service, and this one leaves out


@get("/Me")
async def get_scim_self(_caller: DirectoryClient) -> Reply:
    """A directory is nobody of the organization."""
    raise not_implemented()


@post("/Bulk")
async def do_scim_bulk(_caller: DirectoryClient) -> Reply:
    """Several requests in one."""
    raise not_implemented()


@post("/.search", while_frozen=True)
async def search_scim(_caller: DirectoryClient) -> Reply:
    """People and groups in one search: each has its own."""
    raise not_implemented()
