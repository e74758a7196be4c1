"""In how many browsers somebody may be logged in."""

from tertulia.kernel.bounds import Bound, Otherwise

SESSIONS = Bound(
    name="sessions",
    what="browsers where they are logged in",
    of="person",
    limit=100,
    tables=("browser_session",),
    refusal="",
    instead="the one that was not in use for the longest time is logged out",
)

LOGOUTS = Otherwise(
    tables=("provider_logout",),
    because="what providers sign, at the rate of an address; each is deleted after an hour",
)

ALL = (SESSIONS, LOGOUTS)
