"""What uploads in parts bring to the server."""

from tertulia.events.feature import Feature
from tertulia.files.resumable import bounds, routes
from tertulia.files.resumable.actions import forget_expired_uploads
from tertulia.files.resumable.queries import take_all
from tertulia.kernel.chores import housekeeping
from tertulia.people.users.handover import Belongings

FEATURE = Feature(
    name="resumable",
    routes=(routes,),
    chores=(housekeeping(forget_expired_uploads),),
    bounds=bounds.ALL,
    hooks={Belongings: (Belongings(("resumable_upload",), take_all),)},
)
