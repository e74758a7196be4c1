"""What second factors bring to the server."""

from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.people.factors import bounds, routes
from tertulia.people.factors.passkeys import routes as passkeys
from tertulia.people.factors.passkeys.use import forget_old_challenges
from tertulia.people.factors.stored_secret import SECRET

FEATURE = Feature(
    name="factors",
    routes=(routes, passkeys),
    chores=(housekeeping(forget_old_challenges),),
    bounds=bounds.ALL,
    sealed=(SECRET,),
)
