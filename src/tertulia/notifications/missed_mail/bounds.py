"""How much waits to be mailed."""

from tertulia.kernel.bounds import Otherwise

ALL = (
    Otherwise(
        tables=("mail_batch", "missed_message"),
        because="one for each person with missed messages, and for each of these that concerns them, until it is mailed",
    ),
)
