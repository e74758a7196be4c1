"""What the service says of itself (RFC 7644, section 4)."""

from typing import Any

from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    Context,
    ETag,
    Filter,
    Patch,
    ResourceType,
    ServiceProviderConfig,
    Sort,
)
from scim2_models import Resource as ScimResource

from tertulia.integrations.scim.answers import Description, Resource
from tertulia.integrations.scim.requests import MAX_COUNT
from tertulia.integrations.scim.schemas import Group, User

_DESCRIPTIONS = {"User": "People and their accounts", "Group": "User groups"}
_CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=MAX_COUNT),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=False),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="Bearer token",
            description="A token that an owner of the organization, or the operator of the server, has made",
            primary=True,
        )
    ],
)


def _shown(resource: ScimResource[Any]) -> Resource:
    shown: Resource = resource.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
    return shown


def _resource_type(model: type[ScimResource[Any]]) -> Resource:
    found = ResourceType.from_resource(model)
    found.description = _DESCRIPTIONS[found.name or ""]
    return _shown(found)


DESCRIPTION = Description(
    config=_shown(_CONFIG),
    schemas={str(model.__schema__): _shown(model.to_schema()) for model in (User, Group)},
    resource_types={found["id"]: found for found in (_resource_type(User), _resource_type(Group))},
)
