"""What directories leave behind."""

from tertulia.kernel.bounds import Bound, Otherwise

TOKENS = Bound(
    name="scim_tokens",
    what="tokens of directories (SCIM)",
    of="organization",
    limit=10,
    tables=("scim_token",),
    refusal="The organization has {limit} SCIM tokens already: revoke one that is not in use.",
    counted="scim_token where realm_id = $1",
)
RECORDS = Otherwise(
    tables=("scim_user", "scim_group"),
    because="one for each account, and for each group",
)

ALL = (TOKENS, RECORDS)
