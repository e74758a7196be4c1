"""What can be done to channels. Everything here runs in the caller's transaction."""

from tertulia.channels.actions.create import create_channel
from tertulia.channels.actions.membership import subscribe, unsubscribe

__all__ = ["create_channel", "subscribe", "unsubscribe"]
