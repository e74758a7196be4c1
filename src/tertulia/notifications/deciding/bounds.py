"""How much waits to be decided."""

from tertulia.kernel.bounds import Otherwise

ALL = (Otherwise(tables=("push_due",), because="one for each message, until it is decided whom it concerns"),)
