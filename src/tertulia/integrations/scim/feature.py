"""What SCIM brings to the server."""

from importlib.util import find_spec
from types import ModuleType

from tertulia.events.feature import Feature
from tertulia.integrations.scim import bounds
from tertulia.integrations.scim.answers import PREFIX, refuse
from tertulia.integrations.scim.tokens import routes as token_routes


def _routes() -> tuple[ModuleType, ...]:
    """The protocol itself needs the extra `scim`; without it everything below its address is not found."""
    if find_spec("scim2_models") is None:
        return (token_routes,)
    from tertulia.integrations.scim import routes
    from tertulia.integrations.scim.groups import routes as group_routes
    from tertulia.integrations.scim.users import routes as user_routes

    return (token_routes, routes, user_routes, group_routes)


FEATURE = Feature(
    name="scim",
    routes=_routes(),
    refusals={f"{PREFIX}/": refuse},
    bounds=bounds.ALL,
)
