"""What invitations and signing up bring to the server."""

from tertulia.conversations.invitations import bounds, routes, wire
from tertulia.conversations.invitations.actions import forget_old_invitations
from tertulia.conversations.invitations.arrival import arrival_with
from tertulia.conversations.invitations.queries import LINK_KEY
from tertulia.conversations.invitations.signup import routes as signup
from tertulia.events.feature import Feature
from tertulia.kernel.chores import housekeeping
from tertulia.kernel.services import Service
from tertulia.people.users.account_mails import AccountMails
from tertulia.people.users.arrival import Arrival

FEATURE = Feature(
    name="invitations",
    routes=(routes, signup),
    wire=wire,
    services=(Service(Arrival, lambda services: arrival_with(services[AccountMails])),),
    sealed=(LINK_KEY,),
    chores=(housekeeping(forget_old_invitations),),
    bounds=bounds.ALL,
)
