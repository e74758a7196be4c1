"""What accounts there are is decided by administrators."""

from tertulia.kernel.bounds import Otherwise

ACCOUNTS = Otherwise(
    tables=("account",),
    because="people join by invitation, through a directory, or by a mail where everybody may; bots have a bound",
)

ALL = (ACCOUNTS,)
