"""What logging in leaves behind."""

from tertulia.kernel.bounds import Otherwise

KEYS = Otherwise(
    tables=("api_key",),
    because="100 for each account (`MAX_KEYS`): one more is refused",
)
IDENTITIES = Otherwise(
    tables=("external_identity",),
    because="one for each account and provider",
)
FAILURES = Otherwise(
    tables=("login_failure",),
    because="five for a name and a place, and 100 for a name, in the settings' time; each is deleted after a day",
)
PLACES = Otherwise(
    tables=("login_place",),
    because="20 for each account (`MAX_PLACES`): the oldest is forgotten",
)
TOKENS = Otherwise(
    tables=("password_reset", "email_change"),
    because="the rate of mails; each is deleted after a day",
)

ALL = (
    KEYS,
    IDENTITIES,
    FAILURES,
    PLACES,
    TOKENS,
)
