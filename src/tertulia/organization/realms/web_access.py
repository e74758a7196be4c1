"""Whether what an organization publishes is open to the web: to somebody without an account (pure).

Three have to agree: the operator of the server, the organization, and, for what is in a channel, that channel. This is the one
place that joins them. A setting of the organization stays stored when the operator closes the server, so it says nothing by
itself.
"""

from tertulia.kernel.settings import Settings
from tertulia.organization.realms.settings import RealmSettings


def is_open_to_web(server: Settings, organization: RealmSettings, *, channel: bool = True) -> bool:
    """Whether somebody without an account may look. `channel`: whether the channel it is about is web-public and in use."""
    return server.web_public_streams_enabled and organization.enable_spectator_access and channel
