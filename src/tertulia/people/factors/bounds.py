"""What second factors leave behind."""

from tertulia.kernel.bounds import Bound, Otherwise

FACTORS = Otherwise(
    tables=("second_factor",),
    because="one for each account",
)
CODES = Otherwise(
    tables=("recovery_code",),
    because="ten for each account: new ones replace them",
)
PASSKEYS = Bound(
    name="passkeys",
    what="passkeys",
    of="person",
    limit=20,
    tables=("passkey",),
    refusal="You have {limit} passkeys already: remove one first.",
    counted="passkey where user_id = $1",
)
CHALLENGES = Otherwise(
    tables=("passkey_challenge",),
    because="20 for each account: the oldest is forgotten; before a login, the rate of calls; each ends after five minutes",
)

ALL = (FACTORS, CODES, PASSKEYS, CHALLENGES)
