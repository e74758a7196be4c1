"""How many secrets of webhooks there may be."""

from tertulia.kernel.bounds import Otherwise

SECRETS = Otherwise(tables=("hook_secret",), because="one for each bot and service that signs; bots have a bound")

ALL = (SECRETS,)
