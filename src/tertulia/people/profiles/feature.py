"""What custom profile fields bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.services import Service
from tertulia.people.profiles import bounds, routes, state, wire
from tertulia.people.profiles.queries import hold_fields
from tertulia.people.profiles.values import say_of
from tertulia.people.users.profile import ProfileWriter

FEATURE = Feature(
    name="profiles",
    routes=(routes,),
    wire=wire,
    state=(state.custom_profile_fields, state.external_accounts),
    services=(Service(ProfileWriter, lambda _: ProfileWriter(hold=hold_fields, write=say_of)),),
    bounds=bounds.ALL,
)
