"""What user groups bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.organization.groups import bounds, routes, state, wire
from tertulia.organization.groups.actions import promote_members

FEATURE = Feature(
    name="groups",
    routes=(routes,),
    wire=wire,
    state=(state.realm_user_groups,),
    chores=(housekeeping(promote_members),),
    bounds=bounds.ALL,
)
