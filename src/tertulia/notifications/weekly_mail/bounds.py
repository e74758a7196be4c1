"""How much there is of digests."""

from tertulia.kernel.bounds import Otherwise

ALL = (Otherwise(tables=("digest_run",), because="one for each organization that ever had digests"),)
