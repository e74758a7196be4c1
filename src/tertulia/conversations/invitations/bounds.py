"""How many invitations somebody may have open."""

from tertulia.kernel.bounds import Bound, Otherwise

INVITATIONS = Bound(
    name="invitations",
    what="invitations and links that are open",
    of="person",
    limit=5000,
    tables=("invitation",),
    refusal="You have {limit} open invitations already: revoke some of them.",
    counted="invitation where inviter_id = $1",
)
SIGNUPS = Otherwise(
    tables=("signup",),
    because="the rate of mails; each is deleted after a day",
)
MAILS = Otherwise(
    tables=("invitation_mails",),
    because="one for each organization and day; the setting `invitation_mails` bounds the mails of a day",
)

ALL = (
    INVITATIONS,
    SIGNUPS,
    MAILS,
)
