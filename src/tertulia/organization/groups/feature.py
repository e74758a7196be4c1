"""What user groups bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.kernel.services import Service
from tertulia.organization.groups import bounds, routes, state, wire
from tertulia.organization.groups.actions import promote_members
from tertulia.organization.groups.roles import RoleMembers

FEATURE = Feature(
    name="groups",
    routes=(routes,),
    wire=wire,
    state=(lambda services: state.realm_user_groups(services[RoleMembers]),),
    services=(Service(RoleMembers, lambda _services: RoleMembers()),),
    chores=(housekeeping(promote_members),),
    bounds=bounds.ALL,
)
